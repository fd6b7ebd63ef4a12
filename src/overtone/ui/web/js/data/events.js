/** Server-sent events, read from a stream of text. */

/** @typedef {{event: string, data: string, id: string}} ServerEvent */

export class EventParser {
  constructor() {
    this._rest = "";
    this._event = "";
    /** @type {string[]} */
    this._data = [];
    /** The last id that was sent. */
    this.id = "";
  }

  /**
   * @param {string} text The next piece of the stream, cut anywhere.
   * @returns {ServerEvent[]} The events that are complete now; comments are no events.
   */
  push(text) {
    const events = [];
    const lines = (this._rest + text).split(/\r\n|\n|\r(?!$)/);
    this._rest = /** @type {string} */ (lines.pop());
    for (const line of lines) {
      if (line === "") {
        if (this._data.length) events.push({ event: this._event || "message", data: this._data.join("\n"), id: this.id });
        this._event = "";
        this._data = [];
      } else if (!line.startsWith(":")) {
        this._field(line);
      }
    }
    return events;
  }

  /** @param {string} line */
  _field(line) {
    const at = line.indexOf(":");
    const name = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
    if (name === "event") this._event = value;
    else if (name === "data") this._data.push(value);
    else if (name === "id") this.id = value;
  }
}
