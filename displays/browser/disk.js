// The disk: IndexedDB. `kept` has login and counters; `journal` and `spool` have a row for each entry.

const STORES = ["kept", "journal", "spool"];

const finished = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

export class Disk {
  #base;
  works = true; // whether it took the last change

  constructor(base) {
    this.#base = base;
    base.onversionchange = () => base.close();
  }

  /** Rejects when the browser stores nothing (a private window, a policy). */
  static async open(factory = indexedDB) {
    const asked = factory.open("signage-display", 1);
    asked.onupgradeneeded = () => STORES.forEach((name) => asked.result.createObjectStore(name));
    return new Disk(await finished(asked));
  }

  /** Resolves when the change is on the disk ("strict" is an fsync). Rejects without a change when the disk is full. */
  #change(store, change) {
    return new Promise((resolve, reject) => {
      const transaction = this.#base.transaction(store, "readwrite", { durability: "strict" });
      transaction.oncomplete = () => resolve((this.works = true));
      transaction.onabort = transaction.onerror = () => {
        this.works = false;
        reject(transaction.error ?? new Error("aborted"));
      };
      change(transaction.objectStore(store));
    });
  }

  write = (store, key, value) => this.#change(store, (rows) => rows.put(value, key));
  remove = (store, keys) => this.#change(store, (rows) => keys.forEach((key) => rows.delete(key)));
  read = (key) => finished(this.#base.transaction("kept").objectStore("kept").get(key));
  all = (store) => finished(this.#base.transaction(store).objectStore(store).getAll());
}

/** A replacement without a disk: login and counters end with the page, and no command runs. */
export class NoDisk {
  #kept = new Map();
  works = null; // it has none

  write = async (store, key, value) => {
    if (store === "journal") throw new Error("nothing can be kept");
    this.#kept.set(key, value);
  };
  remove = async () => {};
  read = async (key) => this.#kept.get(key);
  all = async () => [];
}
