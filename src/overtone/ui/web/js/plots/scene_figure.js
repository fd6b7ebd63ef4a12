/** A plot of the server: asked for, drawn, and asked for again while the experiment goes on. */

import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { experiment, go, lang, source, table } from "../state.js";
import { Figure } from "../ui/figure.js";
import { Empty, ErrorNote, Spinner } from "../ui/notes.js";
import { sceneOf } from "./resolve.js";
import { SceneView } from "./scene.js";
import { sceneInWords } from "./scene_words.js";
import { sceneSays, sceneSummary, sceneTable } from "./scene_text.js";

/** @typedef {import("./resolve.js").Scene} Scene */

const AGAIN_MS = 5000;

/**
 * The newest scene of a plot: null before the first one.
 * @param {string} name
 * @param {Record<string, any>} options
 * @returns {{scene: Scene | null, error: Error | null, retry: () => void}}
 */
function useScene(name, options) {
  const [state, setState] = useState(/** @type {{key: string, scene: Scene | null, error: Error | null}} */ ({ key: "", scene: null, error: null }));
  const [turn, setTurn] = useState(0);
  const asked = useRef({ key: "", n: -1 });
  const key = JSON.stringify([experiment.value, name, options]);
  const n = table.value.version.value && table.value.n;
  const wanted = useRef(key);
  wanted.current = key; // answers to what was wanted before come too late
  useEffect(() => {
    if (asked.current.key === key && asked.current.n === n) return;
    const wait = asked.current.key === key ? AGAIN_MS : 0;
    const ask = async () => {
      asked.current = { key, n };
      try {
        const message = await /** @type {any} */ (source.value).plot(experiment.value, name, options);
        if (wanted.current === key) setState({ key, scene: message.header ? sceneOf(message) : message, error: null });
      } catch (error) {
        if (wanted.current === key) setState((before) => ({ key, scene: before.key === key ? before.scene : null, error: /** @type {Error} */ (error) }));
      }
    };
    if (!wait) {
      clearTimeout(timer.current); // of another key
      timer.current = undefined;
      ask();
    }
    // Updates in the meantime do not put it off: the first timer runs, and then asks for the newest.
    else if (!timer.current) {
      timer.current = setTimeout(() => {
        timer.current = undefined;
        setTurn((before) => before + 1);
        ask();
      }, wait);
    }
  }, [key, n, turn]);
  const timer = useRef(/** @type {any} */ (undefined));
  useEffect(() => () => clearTimeout(timer.current), []);
  const isNow = state.key === key;
  return {
    scene: isNow ? state.scene : null, error: isNow ? state.error : null,
    retry: () => {
      asked.current = { key: "", n: -1 };
      setTurn((before) => before + 1);
    },
  };
}

/**
 * @param {object} props
 * @param {string} props.name
 * @param {Record<string, any>} [props.options]
 * @param {any} [props.controls]
 * @param {string} [props.empty]   Instead of the scene's own reason.
 * @param {(spot: import("./chart.js").Spot) => void} [props.onPick]
 * @param {(scene: Scene) => any} [props.says]  Above the plot; by default its sentence, if it has one.
 * @param {2 | 3} [props.level]
 * @param {string} [props.title]
 */
export function SceneFigure({ name, options = {}, controls, empty, onPick, says, level = 2, title }) {
  const { scene: found, error, retry } = useScene(name, options);
  const scene = useMemo(() => found && sceneInWords(found), [found, lang.value]);
  const heading = title ?? t(`plots.title_${name}`);
  const summary = scene ? sceneSummary(name, scene) : "";
  const isEmpty = scene && (scene.empty || !scene.panels.length);
  let body = html`<${Spinner} />`;
  if (error && !scene) body = html`<${ErrorNote} error=${error} onRetry=${retry} />`;
  else if (isEmpty) body = html`<${Empty} title=${empty ?? scene.empty} />`;
  else if (scene) body = html`${says ? says(scene) : sceneSays(name, scene) && html`<p class="plot-says">${sceneSays(name, scene)}</p>`}<${SceneView} scene=${scene} label=${summary} onPick=${onPick ?? openTrial} />`;
  // What the server's title says beyond the name: how marks were aggregated.
  const note = scene ? [/\d/.test(scene.title) ? scene.title : "", scene.note].filter(Boolean).join(". ") : "";
  return html`<${Figure} title=${heading} level=${level} summary=${summary} note=${note} controls=${controls}
    table=${scene && !isEmpty ? () => sceneTable(scene) : undefined}>${body}</${Figure}>`;
}

/** @param {import("./chart.js").Spot} spot */
function openTrial({ row }) {
  const id = row === undefined ? undefined : table.value.ids[row];
  if (id) go("trial", id);
}
