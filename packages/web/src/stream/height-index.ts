/**
 * Heights of rows in a Fenwick tree: the top of any row and the row at any height in O(log n).
 * Owns numbers only; knows nothing of the document.
 */
export class HeightIndex {
  readonly length: number;
  readonly #heights: Float64Array;
  readonly #tree: Float64Array;

  constructor(heights: readonly number[]) {
    this.length = heights.length;
    this.#heights = Float64Array.from(heights);
    this.#tree = new Float64Array(this.length + 1);
    for (let index = 1; index <= this.length; index += 1) {
      this.#tree[index]! += heights[index - 1]!;
      const parent = index + (index & -index);
      if (parent <= this.length) this.#tree[parent]! += this.#tree[index]!;
    }
  }

  get total(): number {
    return this.top(this.length);
  }

  height(row: number): number {
    return this.#heights[row] ?? 0;
  }

  set(row: number, height: number): void {
    const change = height - this.#heights[row]!;
    this.#heights[row] = height;
    for (let index = row + 1; index <= this.length; index += index & -index) this.#tree[index]! += change;
  }

  /** The sum of the heights before `row`. */
  top(row: number): number {
    let sum = 0;
    for (let index = Math.min(row, this.length); index > 0; index -= index & -index) sum += this.#tree[index]!;
    return sum;
  }

  /** The row that covers `y`; the first above everything, the last below. */
  rowAt(y: number): number {
    let index = 0;
    let left = y;
    for (let step = 2 ** Math.floor(Math.log2(Math.max(1, this.length))); step > 0; step >>= 1) {
      if (index + step <= this.length && this.#tree[index + step]! <= left) {
        index += step;
        left -= this.#tree[index]!;
      }
    }
    return Math.max(0, Math.min(index, this.length - 1));
  }
}
