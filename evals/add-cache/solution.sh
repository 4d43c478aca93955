cat > cache.mjs <<'END'
export class Cache {
  #entries = new Map();
  #size;
  #onEvict;

  constructor({ size, onEvict = () => {} }) {
    this.#size = size;
    this.#onEvict = onEvict;
  }

  get count() {
    return this.#entries.size;
  }

  has(key) {
    return this.#entries.has(key);
  }

  get(key) {
    if (!this.#entries.has(key)) return undefined;
    const value = this.#entries.get(key);
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key, value) {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#size) return;
    const [oldest, dropped] = this.#entries.entries().next().value;
    this.#entries.delete(oldest);
    this.#onEvict(oldest, dropped);
  }

  delete(key) {
    return this.#entries.delete(key);
  }
}
END
