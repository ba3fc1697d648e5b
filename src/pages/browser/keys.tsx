import { useLayoutEffect, useRef } from 'preact/hooks';
import { Facts } from './text.tsx';

export const findElement = (selector: string) => document.querySelector<HTMLElement>(selector);

/** Keys that work outside of inputs. Returns what ends it. */
export function listenKeys(onHelp: () => void): () => void {
  const steps: Readonly<Record<string, () => void>> = {
    j: () => walk(1),
    k: () => walk(-1),
    '?': onHelp,
    '/': () => findElement('main input[type="search"]')?.focus(),
    Escape: () => findElement('main .close')?.click(),
  };
  const onKey = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    const step = steps[event.key];
    const hasModifier = event.altKey || event.ctrlKey || event.metaKey;
    if (step === undefined || hasModifier || event.defaultPrevented || target.closest('dialog') !== null) return;
    if (target.closest('input, select, textarea') === null) {
      event.preventDefault();
      step();
    } else if (event.key === 'Escape') target.blur();
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

/** To the next or previous row; while one is open, that row is opened instead. */
function walk(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('main .browse .row')];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  const from = at === -1 ? links.findIndex((link) => link.ariaCurrent === 'true') : at;
  const next = links[Math.max(0, Math.min(links.length - 1, from + by))];
  next?.focus();
  if (next !== undefined && findElement('main .close') !== null) location.replace(next.href);
}

const keys = [
  ['/', 'search'],
  ['j, k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Escape', 'close it'],
  ['?', 'these keys'],
] as const;

/** Holds the focus until it is closed, and gives it back. */
export function Keys({ onClose }: { onClose: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => box.current?.showModal(), []);
  return (
    <dialog ref={box} aria-label="Keys" onClose={onClose}>
      <form method="dialog">
        <h2>Keys</h2>
        <button type="submit">Close</button>
      </form>
      <Facts kind="keys" facts={keys.map(([key, does]) => [<kbd>{key}</kbd>, does])} />
    </dialog>
  );
}
