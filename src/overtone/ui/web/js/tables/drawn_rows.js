/**
 * The nodes of the rows in view: a row that has not changed keeps its node, and so its elements.
 *
 * They are kept here and not in the scope of the component that draws them. Effects and observers keep that scope from
 * the first drawing on, and with a node in it each later tree of nodes: a node refers to its parent, and a child that is
 * kept from tree to tree refers to its parent in the last of them.
 */
export class DrawnRows {
  constructor() {
    /** @type {any[]} */
    this._subject = [];
    this._nSlots = 0;
    /** @type {Map<string, any>} */
    this._nodes = new Map();
  }

  /**
   * @param {any[]} subject What all rows show: if a part of it has changed, each row is drawn anew.
   * @param {number[]} rows In the order of their positions.
   * @param {number} first The position of the first of them.
   * @param {number} nSlots So many elements at least take turns in showing rows.
   * @param {(row: number) => string} look What one row shows beside the subject.
   * @param {(row: number, at: number, key: number) => any} drawRow
   * @returns {any[]} A node for each row.
   */
  draw(subject, rows, first, nSlots, look, drawRow) {
    const slots = Math.max(this._nSlots, nSlots);
    const isSame = slots === this._nSlots && subject.every((one, i) => one === this._subject[i]);
    const nodes = new Map();
    for (let i = 0; i < rows.length; i++) {
      const at = first + i;
      const name = `${at} ${rows[i]} ${look(rows[i])}`;
      nodes.set(name, (isSame && this._nodes.get(name)) || drawRow(rows[i], at, at % slots));
    }
    this._subject = subject;
    this._nSlots = slots;
    this._nodes = nodes;
    return [...nodes.values()];
  }
}
