import { type ComponentChildren, onKeys, useEffect, useLayoutEffect, useRef, useState } from './preact.ts';

export interface VirtualListProps<Item> {
  label: string;
  items: readonly Item[];
  keyOf: (item: Item) => string;
  selected: string | undefined;
  onSelect: (key: string) => void;
  /** Enter: what is selected is read. */
  onOpen: (key: string) => void;
  render: (item: Item) => ComponentChildren;
}

/** As the style sheet has it. */
const rowHeight = 60;
/** Rows outside of what is seen. */
const margin = 6;

/** A box that scrolls, and which part of what is in it is seen; `look` reads that at once. */
export function useScrollBox() {
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
  return { box, view, look };
}

/** A list of any length, of which only what is seen is on the page; arrows, Page, Home and End choose. */
export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const { label, items, keyOf, selected, onSelect, onOpen, render } = props;
  const makeItemId = (index: number) => `${label.replaceAll(/\W/g, '-')}-${index}`;
  const { box, view } = useScrollBox();
  const newest = useRef<string>();
  // What is read stays where it is while newer rows come above it.
  useLayoutEffect(() => {
    const element = box.current;
    const added = newest.current === undefined ? 0 : items.findIndex((item) => keyOf(item) === newest.current);
    newest.current = items[0] === undefined ? undefined : keyOf(items[0]);
    if (element !== null && added > 0 && element.scrollTop > 0) element.scrollTop += added * rowHeight;
  }, [items]);

  const at = items.findIndex((item) => keyOf(item) === selected);
  const choose = (index: number) => {
    const chosen = Math.max(0, Math.min(items.length - 1, index));
    const [item, element] = [items[chosen], box.current];
    if (item === undefined || element === null) return;
    onSelect(keyOf(item));
    const [top, bottom] = [chosen * rowHeight, (chosen + 1) * rowHeight];
    if (top < element.scrollTop) element.scrollTop = top;
    if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
  };
  const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
  const [next, previous] = [() => choose(at + 1), () => choose(at - 1)];
  const onKeyDown = onKeys({
    ArrowDown: next,
    j: next,
    ArrowUp: previous,
    k: previous,
    PageDown: () => choose(at + page),
    PageUp: () => choose(at - page),
    Home: () => choose(0),
    End: () => choose(items.length - 1),
    Enter: () => selected !== undefined && onOpen(selected),
  });
  const first = Math.max(0, Math.floor(view.top / rowHeight) - margin);
  const end = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + margin);
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
          const [number, key] = [first + index, keyOf(item)];
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
