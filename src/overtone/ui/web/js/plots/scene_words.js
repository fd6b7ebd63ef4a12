/** The texts of a scene in the reader's language, as far as they are known. */

import { fill, t, texts } from "../i18n.js";
import { lang, table } from "../state.js";

/** @param {string} text */
function inWords(text) {
  if (lang.value !== "zh") return text;
  const scenes = texts.value.zh?.scenes ?? {};
  const side = /^(.*) \((lower|higher) is better\)$/.exec(text);
  if (side) return t(`plots.${side[2]}`, { metric: side[1] });
  const share = /^share of the importance for (.*)$/.exec(text);
  if (share) return fill(scenes["share of the importance for {n}"], { n: share[1] });
  const counted = /^(.+) (\([\d,]+\))$/.exec(text);
  const word = counted && texts.value.zh?.plots?.[`state_${counted[1].split(" ")[0]}`];
  if (word) return `${word} ${counted[2]}`;
  const n = /\d+/.exec(text)?.[0] ?? "";
  const key = [text, n ? text.replace(n, "{n}") : text].find((one) => Object.hasOwn(scenes, one));
  return key === undefined ? text : fill(scenes[key], { n });
}

/**
 * @param {import("./resolve.js").Scene} scene
 * @returns {import("./resolve.js").Scene}
 */
export function sceneInWords(scene) {
  if (lang.value !== "zh") return scene;
  // A hyperparameter may have the name of a word.
  const { columns } = table.value;
  const isName = (/** @type {string} */ title) => columns.has(`param:${title}`) || columns.has(`metric:${title}`);
  const axis = (/** @type {import("./resolve.js").Axis} */ one) => {
    if (!one.title) return { ...one, categories: one.categories?.map(inWords) };
    return isName(one.title) ? one : { ...one, title: inWords(one.title) };
  };
  return {
    ...scene, note: inWords(scene.note), empty: inWords(scene.empty),
    colour_bar: scene.colour_bar && { ...scene.colour_bar, title: inWords(scene.colour_bar.title) },
    panels: scene.panels.map((panel) => ({
      ...panel, title: inWords(panel.title), x: axis(panel.x), y: axis(panel.y),
      marks: panel.marks.map((mark) => ("label" in mark ? { ...mark, label: inWords(mark.label) } : mark)),
    })),
  };
}
