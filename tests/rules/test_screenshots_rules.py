"""The content decides whether an upload is a picture of a screen."""

from datetime import UTC, datetime, timedelta

import pytest

from displays.simulated.picture import COLOURS, draw
from extensions.screenshots.rules import LARGEST_BYTES, read_jpeg, taken_at
from shared.errors import UnsupportedMediaType, UploadTooLarge

WHOLE = draw("Lobby North", "2026-03-01 12:00:00 UTC", "running")
COMMENT = b"\xff\xfe\x00\x06mine"


@pytest.mark.parametrize("state", [*COLOURS, "starting"])
def test_a_jpeg_has_its_size(state: str) -> None:
    picture = read_jpeg(draw("A long name that does not fit (2)", "?", state))

    assert (picture.width, picture.height) == (960, 544)


def test_segments_before_the_frame_are_passed_over() -> None:
    assert read_jpeg(WHOLE[:2] + COMMENT + WHOLE[2:]).width == 960


def test_pictures_of_other_words_moments_and_states_are_different() -> None:
    told = {draw(name, moment, state) for name in "AB" for moment in "12" for state in ("running", "crashed")}

    assert len(told) == 8


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<script>alert(1)</script>",
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"\xff\xd8\xff\xd9",
        WHOLE[:-2],
        WHOLE[:30],
        WHOLE + b"<script>",
        b"\xff\xd8" + b"\xff\xc0\x00\x0b\x08\x00\x00\x03\xc0\x01\x01\x11\x00" + b"\xff\xd9",  # no height
        b"\xff\xd8" + b"\xff\xe0\x00\x00" * 10 + b"\xff\xd9",  # segments beyond the end
        b"\xff\xd8" + b"\xff\xda\x00\x08" + WHOLE[2:],  # a scan before the frame
    ],
)
def test_what_is_no_whole_jpeg_is_refused(content: bytes) -> None:
    with pytest.raises(UnsupportedMediaType):
        read_jpeg(content)


def test_a_picture_of_more_than_60_kb_is_refused() -> None:
    padded = WHOLE[:-2] + bytes(LARGEST_BYTES - len(WHOLE)) + WHOLE[-2:]

    assert len(read_jpeg(padded).jpeg) == LARGEST_BYTES
    with pytest.raises(UploadTooLarge):
        read_jpeg(padded[:-2] + b"\x00" + padded[-2:])


def test_no_picture_is_older_than_a_day() -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)

    assert taken_at(now, timedelta(seconds=5)) == now - timedelta(seconds=5)
    assert taken_at(now, timedelta(days=9)) == now - timedelta(days=1)
