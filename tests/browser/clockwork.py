"""A page whose clock stands still until a test advances it; its requests of the overview are counted."""

from typing import Final

from tests.browser.watched import WatchedPage
from tests.stack import eventually

ANSWER_MS: Final = 5_000  # of the page's time in which it does not give up waiting for an answer

# Counts the page's requests of the overview, and those whose answer it has not yet read completely.
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
    """A dashboard page with a controlled clock. Call `prepare` before its first address, `stop` after."""

    def __init__(self, watched: WatchedPage) -> None:
        self.watched = watched
        self.page = watched.page

    def prepare(self) -> None:
        """Count the page's requests from its start, and make its clock stoppable."""
        self.watched.change_clock()
        self.page.add_init_script(COUNT)

    def stop(self) -> None:
        """Stop the clock, and wait until every pending answer has arrived."""
        self.watched.stop_clock()
        self.settle()

    def count(self) -> int:
        """Return how often the page has requested the overview."""
        return int(self.page.evaluate("asked.at.length"))

    def times(self) -> list[float]:
        """Return when it requested the overview, in seconds by its own clock."""
        return [at / 1000 for at in self.page.evaluate("asked.at")]

    def settle(self) -> None:
        """Wait until every answer has been read and the page has handled it."""
        eventually(lambda: self.page.evaluate("asked.open") == 0, "the answers")

    def passes(self, seconds: float) -> int:
        """Advance the clock by so many seconds, waiting for answers; return the number of requests meanwhile."""
        before = self.count()
        left = int(seconds * 1000)
        while left > 0:
            self.page.clock.run_for(min(left, ANSWER_MS))
            self.settle()
            left -= ANSWER_MS
        return self.count() - before

    def skips(self, seconds: float) -> None:
        """Advance the clock in one step, as if the machine had slept: each due timer fires once."""
        self.page.clock.fast_forward(int(seconds * 1000))
        self.settle()

    def until_asked(self, step_seconds: float = 0.1, most_seconds: float = 70) -> None:
        """Advance the clock step by step until the page has just requested the overview and read the answer."""
        before = self.count()
        for _ in range(int(most_seconds / step_seconds)):
            self.page.clock.run_for(int(step_seconds * 1000))
            self.settle()
            if self.count() > before:
                return
        raise AssertionError(f"the page did not ask within {most_seconds} s")

    def hide(self, hidden: bool) -> None:
        """Put the tab in the background, or bring it back."""
        self.page.evaluate(HIDE, hidden)
        self.settle()
