import { type ComponentChildren, useLayoutEffect, useRef } from './preact.ts';
import { Facts } from './text.tsx';

/** A dialog of the page. */
export type Shown = 'find' | 'keys';

/** The first element that fits. */
export const findElement = (selector: string) => document.querySelector<HTMLElement>(selector);

/** Keys that work wherever nothing is typed, with Ctrl everywhere: those of lists, and more. Gives what ends it. */
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
    const hasCtrl = event.ctrlKey || event.metaKey;
    const step = steps[hasCtrl ? `Ctrl ${event.key}` : event.key];
    const isElsewhere = event.defaultPrevented || event.altKey || target.closest('dialog') !== null;
    if (step === undefined || (isElsewhere && !hasCtrl)) return;
    if (hasCtrl || target.closest('input, select, textarea') === null) {
      event.preventDefault();
      step();
    } else if (event.key === 'Escape') target.blur();
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

const keys = [
  ['Ctrl K', 'find a trader, a token, a position, a webhook, a request or a page'],
  ['/', 'filter what is shown'],
  ['j, k', 'next and previous row; also the arrows, Page Up and Down, Home, End'],
  ['Enter', 'open the row'],
  ['Escape', 'close, or back to the list'],
  ['← →', 'on a chart: its points'],
  ['?', 'these keys'],
] as const;

/** All keys, but for one that a page does not have. */
export function Keys({ without, onClose }: { without?: string; onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <Facts
        kind="keys"
        facts={keys.filter(([key]) => key !== without).map(([key, does]) => [<kbd>{key}</kbd>, does])}
      />
    </Dialog>
  );
}

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** Keeps the keys until it is closed, and gives them back to where they were. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    box.current?.showModal();
    box.current?.querySelector('input')?.focus();
  }, []);
  return (
    <dialog ref={box} aria-label={title} onClose={onClose}>
      <form method="dialog">
        <h2>{title}</h2>
        <button type="submit">Close</button>
      </form>
      {children}
    </dialog>
  );
}
