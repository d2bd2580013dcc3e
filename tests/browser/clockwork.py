"""A page whose timers stand still until a test lets time pass, and what it asks of the overview meanwhile."""

from typing import Final

from playwright.sync_api import Error

from tests.browser.watched import WatchedPage
from tests.stack import eventually

ANSWER_MS: Final = 5_000  # of the page's time in which it does not give up waiting for an answer

# Counts the page's requests of the overview, and those whose answer it has not read to its end.
COUNT = """
  window.asked = { at: [], open: 0, most: 0 };
  const original = window.fetch;
  window.fetch = async (address, ...rest) => {
    if (!String(address).includes('/api/monitoring/overview')) return original(address, ...rest);
    asked.at.push(Date.now());
    asked.most = Math.max(asked.most, ++asked.open);
    try {
      const answer = await original(address, ...rest);
      const read = answer.text.bind(answer);
      answer.text = () => read().finally(() => asked.open--);
      return answer;
    } catch (error) {
      asked.open--;
      throw error;
    }
  };
"""
HIDE = """(hidden) => {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event('visibilitychange'));
}"""


class Clockwork:
    """A dashboard page with a clock of its own. `prepare` comes before its first address, `stop` after."""

    def __init__(self, watched: WatchedPage) -> None:
        self.watched = watched
        self.page = watched.page

    def prepare(self) -> None:
        """From the page's first moment on its requests are counted and its clock can be stopped."""
        self.watched.change_clock()
        self.page.add_init_script(COUNT)

    def stop(self) -> None:
        """Time stands still from now on, and every answer that is due has come."""
        if not self._pauses(1):
            assert self._pauses(30), "the machine came to it when that moment was over"
        self.settle()

    def _pauses(self, seconds: float) -> bool:
        """Whether time could be stopped so many seconds from now; not where they passed meanwhile."""
        try:
            self.page.clock.pause_at(self.page.evaluate("Date.now()") / 1000 + seconds)
        except Error:
            return False
        return True

    def count(self) -> int:
        """How often the page has asked."""
        return int(self.page.evaluate("asked.at.length"))

    def times(self) -> list[float]:
        """When it asked, in seconds by its own clock."""
        return [at / 1000 for at in self.page.evaluate("asked.at")]

    def settle(self) -> None:
        """Wait until every answer has been read; what follows from it has happened then too."""
        eventually(lambda: self.page.evaluate("asked.open") == 0, "the answers")

    def passes(self, seconds: float) -> int:
        """Let so much time pass, waiting for answers on the way; how often the page asked in it."""
        before = self.count()
        left = int(seconds * 1000)
        while left > 0:
            self.page.clock.run_for(min(left, ANSWER_MS))
            self.settle()
            left -= ANSWER_MS
        return self.count() - before

    def skips(self, seconds: float) -> None:
        """Let so much time pass at once, as if the machine had slept: what was due comes once."""
        self.page.clock.fast_forward(int(seconds * 1000))
        self.settle()

    def until_asked(self, step_seconds: float = 0.1, most_seconds: float = 70) -> None:
        """Let time pass, step by step, until the page has just asked and been answered."""
        for _ in range(int(most_seconds / step_seconds)):
            if self.passes(step_seconds):
                return
        raise AssertionError(f"the page did not ask within {most_seconds} s")

    def hide(self, hidden: bool) -> None:
        """The tab goes to the background, or comes back."""
        self.page.evaluate(HIDE, hidden)
        self.settle()
