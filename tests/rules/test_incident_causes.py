"""The texts of an incident: its cause and the entries of its timeline."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.incidents import causes_rules, timeline_rules
from shared.incidents.causes_rules import Facts
from shared.vocabulary import IncidentEventKind, IncidentKind, Symptom
from shared.words.reader import english
from shared.words.sentences import as_given

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
SITE, SUBNET, CLUSTER = IncidentKind.SITE, IncidentKind.SUBNET, IncidentKind.CLUSTER
SILENT, CRASHED = Symptom.SILENT, Symptom.CRASHED
SERVICE_FAILED, DISCONNECTED = Symptom.SERVICE_FAILED, Symptom.DISCONNECTED


def facts(
    kind: IncidentKind = SITE, key: str = "Rome", size: int | None = 12, spread: float = 40, **more: Any
) -> Facts:
    symptoms = more.pop("symptoms", {SILENT: 11})
    known = {"sites": 1, "unit": None, **more}
    return Facts(kind, key, size, symptoms, NOW, NOW + timedelta(seconds=spread), **known)


CONTENT = "what they were given to show, or an update, is the likely cause."
CAUSES = [
    (
        facts(),
        "11 of 12 displays at site Rome went silent within 40 s",
        "the network or power of the site is the likely cause.",
    ),
    (
        facts(SUBNET, "10.1.2.0/24", 5, 0, symptoms={SILENT: 5}),
        "5 of 5 displays in the subnet 10.1.2.0/24 went silent at once",
        "the network or power of this part of the network is the likely cause.",
    ),
    (
        facts(CLUSTER, "", None, 45, symptoms={SILENT: 60}, sites=5, elsewhere=True),
        "60 displays at 5 sites went silent within 45 s",
        "a provider they share, the way to the broker or the broker itself is the likely cause.",
    ),
    (
        facts(CLUSTER, "", None, 45, symptoms={SILENT: 6}, sites=5),
        "6 displays at 5 sites went silent within 45 s",
        "they have nothing in common but the time.",
    ),
    (
        facts(SUBNET, "10.1.2.0/24", 5, 0, symptoms={SILENT: 5}, site="Rome"),
        "5 of 5 displays in the subnet 10.1.2.0/24 of Rome went silent at once",
        "the network or power of this part of the network is the likely cause.",
    ),
    (facts(symptoms={CRASHED: 4}, spread=200), "4 of 12 displays at site Rome crashed within 3 minutes", CONTENT),
    (
        facts(symptoms={SERVICE_FAILED: 4}, unit="content-sync.service"),
        "4 of 12 displays at site Rome reported that content-sync.service failed within 40 s",
        CONTENT,
    ),
    (
        facts(symptoms={DISCONNECTED: 12}, spread=8),
        "12 of 12 displays at site Rome lost the broker and came back within 8 s",
        "a short break of the network of the site is the likely cause.",
    ),
    (
        facts(symptoms={SILENT: 8, CRASHED: 1}, spread=8000),
        "9 of 12 displays at site Rome failed (8 silent, 1 crashed) within 2 hours",
        "the network or power of the site is the likely cause.",
    ),
]


@pytest.mark.parametrize(("known", "happened", "likely"), CAUSES, ids=[happened[:30] for _, happened, _ in CAUSES])
def test_the_cause_is_a_sentence_that_says_what_to_look_at(known: Facts, happened: str, likely: str) -> None:
    assert english(causes_rules.cause(known)) == f"{happened}; {likely}"


@given(
    st.sampled_from([SITE, SUBNET, CLUSTER]),
    st.dictionaries(st.sampled_from(list(Symptom)), st.integers(1, 9), min_size=1),
    st.one_of(st.none(), st.integers(0, 50)),
    st.integers(0, 10**6),
)
def test_every_incident_has_a_cause_in_words(
    kind: IncidentKind, symptoms: dict[Symptom, int], size: int | None, spread: int
) -> None:
    words = english(causes_rules.cause(facts(kind, "Rome", size, spread, symptoms=symptoms, elsewhere=True)))

    assert words.startswith(str(sum(symptoms.values())))
    assert words.endswith("is the likely cause.")


def test_our_own_silence_says_that_the_displays_may_be_well() -> None:
    words = english(causes_rules.why_unheard(NOW))

    assert "since Tuesday 10 March 2026, 12:00 UTC" in words
    assert "may well be running" in words


def test_entries_of_the_timeline_say_how_many_displays_they_are_about() -> None:
    asked = {"action": "restart_app", "requested_by": "recovery", "reason": None}
    decided = {"decision": "none", "why": as_given(text="The breaker is open.")}

    def title(kind: IncidentEventKind, count: int | None, details: dict[str, Any]) -> str:
        return english(timeline_rules.title(kind, count, details, as_given(text="All well.")))

    assert title(IncidentEventKind.JOINED, 11, {}) == "11 displays failed"
    assert title(IncidentEventKind.LEFT, 1, {}) == "1 display well again"
    assert title(IncidentEventKind.COMMAND, 2, asked) == "Restart for 2 displays asked for by recovery"
    assert title(IncidentEventKind.RECOVERY, 9, decided) == "Recovery does nothing for 9 displays: The breaker is open."
    assert title(IncidentEventKind.CLOSED, None, {}) == "All well."
