import { useLayoutEffect, useRef } from './preact.ts';
import { Facts } from './text.tsx';

/** The first element that fits. */
export const findElement = (selector: string) => document.querySelector<HTMLElement>(selector);

/** Keys that work wherever nothing is typed: those of lists, and more. Gives what ends it. */
export function listenKeys(more: Readonly<Record<string, () => void>> = {}): () => void {
  const walk = (key: string) => () => {
    const box = findElement('main .scroll:has(th a), main .list');
    box?.focus();
    box?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  };
  const steps: Readonly<Record<string, () => void>> = {
    ...{ '/': () => findElement('main input[type="search"]')?.focus(), j: walk('j'), k: walk('k') },
    ...{ Escape: () => findElement('main .crumbs a:last-of-type, main .back')?.click(), ...more },
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

const keys = [
  ['/', 'filter what is shown'],
  ['j, k', 'next and previous row; also the arrows, Page Up and Down, Home, End'],
  ['Enter', 'open the row'],
  ['Escape', 'close, or back to the list'],
  ['← →', 'on a chart: its points'],
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
