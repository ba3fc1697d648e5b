import { type ComponentChildren, onKeys, useEffect, useLayoutEffect, useRef, useState } from './preact.ts';

interface VirtualListProps<Item> {
  label: string;
  items: readonly Item[];
  readKey: (item: Item) => string;
  selected: string | undefined;
  onSelect: (key: string) => void;
  /** Enter: what is selected is read. */
  onOpen: (key: string) => void;
  render: (item: Item) => ComponentChildren;
}

interface BoxedRows {
  count: number;
  /** As the style sheet has it. */
  rowHeight: number;
  /** Of a head that stays in sight. */
  headRows?: number;
}

/** Rows outside of what is seen. */
const margin = 3;

/**
 * A box that scrolls through rows of one height: the rows from `first` up to `end` are on the page, and `walk` gives the keys that bring another
 * row into sight and go to it; from -1 where none is chosen.
 */
export function useRowBox({ count, rowHeight, headRows = 0 }: BoxedRows) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const look = () => box.current && setView({ top: box.current.scrollTop, height: box.current.clientHeight });
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);
  const walk = (at: number, go: (index: number) => void) => {
    const step = (to: number) => () => {
      const [element, index] = [box.current, Math.max(0, Math.min(count - 1, to))];
      if (element === null || count === 0) return;
      const [top, bottom] = [index * rowHeight, (index + 1 + headRows) * rowHeight];
      if (top < element.scrollTop) element.scrollTop = top;
      if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
      look();
      go(index);
    };
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1 - headRows);
    const [next, previous] = [step(at + 1), step(at - 1)];
    return {
      ...{ ArrowDown: next, j: next, ArrowUp: previous, k: previous, Home: step(0), End: step(count - 1) },
      ...{ PageDown: step(at + page), PageUp: step(at - page) },
    };
  };
  const first = Math.max(0, Math.floor(view.top / rowHeight) - margin);
  const end = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + margin);
  return { box, first, end, walk };
}

/** As the style sheet has it. */
const rowHeight = 60;

/** A list of any length, of which only what is seen is on the page; arrows, Page, Home and End choose. */
export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const { label, items, readKey, selected, onSelect, onOpen, render } = props;
  const makeItemId = (index: number) => `${label.replaceAll(/\W/g, '-')}-${index}`;
  const { box, first, end, walk } = useRowBox({ count: items.length, rowHeight });
  const newest = useRef<string>();
  // What is read stays where it is while newer rows come above it.
  useLayoutEffect(() => {
    const element = box.current;
    const added = newest.current === undefined ? 0 : items.findIndex((item) => readKey(item) === newest.current);
    newest.current = items[0] === undefined ? undefined : readKey(items[0]);
    if (element !== null && added > 0 && element.scrollTop > 0) element.scrollTop += added * rowHeight;
  }, [items]);

  const at = items.findIndex((item) => readKey(item) === selected);
  const select = (index: number) => {
    const item = items[index];
    if (item !== undefined) onSelect(readKey(item));
  };
  const onKeyDown = onKeys({ ...walk(at, select), Enter: () => selected !== undefined && onOpen(selected) });
  return (
    <div
      ref={box}
      class="list"
      role="listbox"
      aria-label={label}
      tabIndex={0}
      style={{ '--rows': `${items.length * rowHeight + 2}px` }}
      aria-activedescendant={at >= first && at < end ? makeItemId(at) : undefined}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" style={{ height: `${items.length * rowHeight}px` }}>
        {items.slice(first, end).map((item, index) => {
          const [number, key] = [first + index, readKey(item)];
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys
            <div
              key={key}
              id={makeItemId(number)}
              class="row"
              role="option"
              tabIndex={-1}
              aria-selected={key === selected}
              aria-setsize={items.length}
              aria-posinset={number + 1}
              style={{ transform: `translateY(${number * rowHeight}px)` }}
              onClick={() => onSelect(key)}
            >
              {render(item)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
