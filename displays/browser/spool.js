// The spool: keeps each numbered log line until the service confirms that it is stored.

const MOST_LINES = 2_000;
const RESEND_MS = 30_000;
const LONGEST_RESEND_MS = 600_000;
const A_SECOND = 40;
const AT_ONCE = 100;

export class Spool {
  refused = 0;
  #lines;
  #next = 0; // index of the first line not sent on this connection
  #tokens = AT_ONCE;
  #at = performance.now();
  #timer = 0;
  #pause = RESEND_MS;
  #writing = Promise.resolve();

  constructor(disk, lines, link) {
    this.disk = disk;
    this.link = link;
    this.#lines = lines.map((line) => ({ ...line, isOnDisk: true }));
    this.#watch();
  }

  /** Whether the spool has room for another line. */
  hasRoom() {
    if (this.#lines.length < MOST_LINES) return true;
    this.refused++;
    return false;
  }

  /** Write the line to the disk, then send it; send it also with a full disk, because it has its number. */
  keep(line) {
    this.#lines.push(line);
    line.isOnDisk = false;
    this.#writing = this.disk
      .write("spool", line.key, line)
      .catch(() => {})
      .then(() => {
        line.isOnDisk = true;
        this.#send();
      });
    return this.#writing;
  }

  /** Send all lines again, the oldest first: sent ones may be lost. */
  again() {
    this.#next = 0;
    this.#send();
  }

  committed({ install_id, boot_seq, seq }) {
    const isStored = (line) => line.install_id === install_id && line.key[0] === boot_seq && line.key[1] <= seq;
    const stored = this.#lines.filter(isStored);
    if (!stored.length) return;
    this.#next -= this.#lines.slice(0, this.#next).filter(isStored).length;
    this.#lines = this.#lines.filter((line) => !isStored(line));
    this.#pause = RESEND_MS;
    this.disk
      .remove(
        "spool",
        stored.map((line) => line.key),
      )
      .catch(() => {});
  }

  #send() {
    while (this.link().up && this.#next < this.#lines.length && this.#lines[this.#next].isOnDisk !== false) {
      if (!this.#mayGo()) return;
      const { payload, level } = this.#lines[this.#next++];
      this.link().send("logs", payload, level);
    }
  }

  /** Send at most 40 lines a second, up to 100 at once. */
  #mayGo() {
    const now = performance.now();
    this.#tokens = Math.min(AT_ONCE, this.#tokens + ((now - this.#at) * A_SECOND) / 1000);
    this.#at = now;
    if (this.#tokens >= 1) return !!this.#tokens--;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#send(), 100);
    return false;
  }

  #watch() {
    const oldest = this.#lines[0];
    setTimeout(() => {
      if (oldest && oldest === this.#lines[0]) {
        this.#pause = Math.min(2 * this.#pause, LONGEST_RESEND_MS);
        this.again();
      } else this.#pause = RESEND_MS;
      this.#watch();
    }, this.#pause);
  }
}
