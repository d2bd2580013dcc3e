"""Find unused files on the media volume: `python -m functions.scheduler_tick.volume_sweep [--remove]`.

Without `--remove` it only lists them. It needs DATABASE_URL and MEDIA_ROOT, and may run while the service works.
Exit code 0; 1 when there are foreign files, which it never touches.
"""

import argparse
import sys
from collections.abc import Sequence
from datetime import timedelta

from shared import config, structured_log
from shared.event_media.leftovers_operations import GRACE, sweep
from shared.outside.media_volume import MediaVolume
from shared.postgres.door import engine_for


def main(arguments: Sequence[str]) -> int:
    """Print a line for each file, and a summary."""
    parser = argparse.ArgumentParser(prog="volume_sweep", description="Files on the media volume that no row names.")
    parser.add_argument("--remove", action="store_true", help="remove them; without it nothing is changed")
    hours = GRACE / timedelta(hours=1)
    parser.add_argument("--older-than-hours", type=float, default=hours, help=f"only files so old; {hours:.0f}")
    asked = parser.parse_args(arguments)
    structured_log.configure("volume_sweep")
    configuration = config.load(required=("DATABASE_URL",))
    engine = engine_for(configuration["DATABASE_URL"], "volume_sweep", 1)
    volume, older_than = MediaVolume(configuration["MEDIA_ROOT"]), timedelta(hours=asked.older_than_hours)
    ours: list[int] = []
    strangers = 0
    for left in sweep(engine, volume, remove=asked.remove, older_than=older_than):
        word = "removed" if left.was_removed else "would remove" if left.is_ours else "not ours"
        print(f"{word:<13}{left.file.bytes:>14,}  {left.file.path}")  # noqa: T201 - a command for people
        ours += [left.file.bytes] if left.is_ours else []
        strangers += not left.is_ours
    done = "removed" if asked.remove else "nothing removed: add --remove"
    print(f"{len(ours)} files with {sum(ours):,} bytes, {done}")  # noqa: T201 - as above
    return 1 if strangers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
