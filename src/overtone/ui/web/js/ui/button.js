/** Buttons and links that look like buttons. */
import { html } from "../html.js";

/**
 * @param {{label?: any, onClick?: (event: any) => void, kind?: "plain" | "primary" | "danger" | "quiet",
 *   isDisabled?: boolean, isPressed?: boolean, isExpanded?: boolean, title?: string, name?: string, href?: string,
 *   type?: "button" | "submit", small?: boolean, children?: any, buttonRef?: any, hasPopup?: string,
 *   download?: string}} props `name` is the accessible name where the label says too little.
 */
export function Button(props) {
  const { label, onClick, kind = "plain", isDisabled = false, title, name, href, type = "button", small } = props;
  const look = `button button-${kind}${small ? " button-small" : ""}`;
  const content = label ?? props.children;
  if (href !== undefined) {
    return html`<a class=${look} href=${href} title=${title} aria-label=${name} onClick=${onClick} download=${props.download}>${content}</a>`;
  }
  return html`<button ref=${props.buttonRef} type=${type} class=${look} title=${title} aria-label=${name} disabled=${isDisabled}
    aria-pressed=${props.isPressed} aria-expanded=${props.isExpanded} aria-haspopup=${props.hasPopup} onClick=${onClick}>${content}</button>`;
}
