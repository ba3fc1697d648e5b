import type { ShownCommand } from '../deliveries.ts';
import { Empty, Skeleton } from './cells.tsx';
import { findElement } from './keys.tsx';
import { type ComponentChildren, useState } from './preact.ts';
import { Alert, Commands, type Fact, Facts, Text } from './text.tsx';
import { VirtualList } from './virtual-list.tsx';

/** What is chosen: which list, and the key in it. */
export interface Chosen {
  kind: string;
  key: string;
}

/** A list. */
export interface Tab<Item> {
  kind: string;
  /** With how many it holds. */
  title: string;
  filters?: ComponentChildren;
  label: string;
  /** Absent while it is loading. */
  items: readonly Item[] | undefined;
  /** Why it cannot be loaded, which is told elsewhere. */
  error?: string;
  readKey(item: Item): string;
  render(item: Item): ComponentChildren;
  /** What stands in its place while it is empty. */
  empty: string;
  /** A line that changes that. */
  line?: string | undefined;
}

interface InspectorProps {
  /** Lists of which one is shown. */
  tabs: readonly Tab<unknown>[];
  /** What is opened first. */
  first?: Chosen | undefined;
  error?: string;
  /** What stands above a list. */
  notes?: ComponentChildren;
  commands: readonly ShownCommand[];
  /** What stands in place of the detail until something is chosen. */
  chooser: string;
  detail: (chosen: Chosen, choose: (chosen: Chosen) => void) => ComponentChildren;
}

/** A list beside which what is chosen of it is read; on a narrow screen in its place. */
export function Inspector({ tabs, first, error = '', notes, commands, chooser, detail }: InspectorProps) {
  const [kind, show] = useState(first?.kind ?? tabs[0]?.kind);
  const [chosen, choose] = useState(first);
  const tab = tabs.find((each) => each.kind === kind) ?? tabs[0];
  const close = () => {
    choose(undefined);
    findElement('.list')?.focus();
  };
  const focusDetail = () => findElement('#detail')?.focus();
  /** What had the focus may be gone with the detail before. */
  const open = (next: Chosen) => {
    choose(next);
    focusDetail();
  };
  if (tab === undefined) return null;
  const { items, label, empty, line, readKey, render } = tab;
  return (
    <div class={chosen === undefined ? 'inspect' : 'inspect reading'}>
      <section class="browse" aria-label="List">
        {tabs.length > 1 && (
          <nav class="choice" aria-label="What is listed">
            {tabs.map((each) => (
              <button key={each.kind} type="button" aria-pressed={each === tab} onClick={() => show(each.kind)}>
                {each.title}
              </button>
            ))}
          </nav>
        )}
        {tab.filters}
        <Alert text={error} />
        {notes}
        {items === undefined && <Skeleton label={label} error={tab.error} />}
        {items?.length === 0 && <Empty text={empty} line={line} />}
        {items !== undefined && items.length > 0 && (
          <VirtualList
            key={tab.kind}
            selected={chosen?.kind === tab.kind ? chosen.key : undefined}
            onSelect={(key) => choose({ kind: tab.kind, key })}
            onOpen={focusDetail}
            {...{ label, items, readKey, render }}
          />
        )}
        {commands.length > 0 && <Commands commands={commands} />}
      </section>
      {chosen === undefined ? (
        <p class="empty chooser">{chooser}</p>
      ) : (
        <article class="detail" id="detail" tabIndex={-1} aria-label="Detail">
          <button type="button" class="back" onClick={close}>
            ← List
          </button>
          {detail(chosen, open)}
        </article>
      )}
    </div>
  );
}

export interface DetailProps {
  title: string;
  facts: readonly Fact[];
  commands?: readonly ShownCommand[];
  children?: ComponentChildren;
}

/** What is told of what is chosen. */
export function Detail({ title, facts, commands = [], children }: DetailProps) {
  return (
    <>
      <Text as="h2" text={title} />
      <Facts facts={facts} />
      {children}
      {commands.length > 0 && (
        <>
          <h3>Commands</h3>
          <Commands commands={commands} />
        </>
      )}
    </>
  );
}
