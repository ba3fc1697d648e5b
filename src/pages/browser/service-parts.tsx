import type { Card } from '../../model/position.ts';
import { chooseTone, formatAge, formatTime, formatUsd, shortAddress } from '../../output/format.ts';
import type { ShownCommand } from '../deliveries.ts';
import type { useCall } from './ask.ts';
import { DataTable } from './data-table.tsx';
import { type ComponentChildren, useId, useState } from './preact.ts';
import { writeHref } from './route.ts';
import { Alert, Commands, Text } from './text.tsx';
import { VirtualList } from './virtual-list.tsx';

interface SectionProps {
  title: string;
  error?: string;
  commands?: readonly ShownCommand[];
  children: ComponentChildren;
}

/** A part of a view, with what went wrong and the commands that give the same. */
export function Section({ title, error = '', commands = [], children }: SectionProps) {
  const id = useId();
  return (
    <section class="part" aria-labelledby={id}>
      <h3 id={id}>
        <Text text={title} />
      </h3>
      <Alert text={error} />
      {children}
      {commands.length > 0 && <Commands commands={commands} />}
    </section>
  );
}

export function Usd({ value, signed = false }: { value: number | null | undefined; signed?: boolean }) {
  return <span class={signed ? `figure ${chooseTone(value)}` : 'figure'}>{formatUsd(value, { signed })}</span>;
}

/** The time, and how long ago by the clock of the service. */
export function Moment({ atSec, nowSec }: { atSec: number; nowSec?: number | undefined }) {
  return (
    <time>
      {formatTime(atSec)}
      {nowSec !== undefined && <span class="muted"> {formatAge(atSec, nowSec)}</span>}
    </time>
  );
}

export function TraderLink({ id, name }: { id: string; name: string }) {
  return (
    <a href={writeHref('trader', [id])}>
      <Text text={name === '' ? shortAddress(id) : name} />
    </a>
  );
}

export function TokenLink({ chain, address, symbol }: { chain: string; address: string; symbol: string }) {
  return (
    <a href={writeHref('token', [chain, address])}>
      <Text text={symbol === '' ? shortAddress(address) : symbol} /> on <Text text={chain} />
    </a>
  );
}

interface OpenListProps<Item> {
  label: string;
  items: readonly Item[] | undefined;
  keyOf: (item: Item) => string;
  /** Where an item leads. */
  hrefFor?: (item: Item) => string;
  empty: string;
  /** Why there are none: nothing is loading then. */
  error?: string;
  render: (item: Item) => ComponentChildren;
}

/** A list of which a click, or Enter, opens an item. */
export function OpenList<Item>({ label, items, keyOf, hrefFor, empty, error = '', render }: OpenListProps<Item>) {
  const [selected, select] = useState<string>();
  if (items === undefined) return error === '' ? <p class="empty">Loading …</p> : null;
  if (items.length === 0) return <p class="empty">{empty}</p>;
  const open = (key: string) => {
    select(key);
    const item = items.find((each) => keyOf(each) === key);
    if (item !== undefined && hrefFor !== undefined) location.hash = hrefFor(item);
  };
  return <VirtualList {...{ label, items, keyOf, selected, render }} onSelect={select} onOpen={open} onClick={open} />;
}

interface PositionsProps {
  title: string;
  asked: ReturnType<typeof useCall<readonly Card[]>>;
}

/** A part with positions, each a link to its own view. */
export function Positions({ title, asked: { data, table, error, commands } }: PositionsProps) {
  return (
    <Section title={title} error={error} commands={commands}>
      <DataTable label={title} table={table} hrefs={data?.map(positionHref) ?? []} error={error} empty="None." />
    </Section>
  );
}

/** `DEGEN on base`, with the side of a perp. */
export function nameCardToken({ metadata }: Card): string {
  const { tokenSymbol, tokenAddress, tokenChain, perpPositionType } = metadata;
  const side = typeof perpPositionType === 'string' ? `${perpPositionType} ` : '';
  return `${side}${tokenSymbol || shortAddress(tokenAddress)} on ${tokenChain}`;
}

export const positionHref = ({ itemId }: Card) => writeHref('position', [itemId]);
