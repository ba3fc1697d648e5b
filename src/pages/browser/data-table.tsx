import { useEffect, useMemo, useState } from 'preact/hooks';
import { decodeBase58, isHashOrKey, isUuid, isWalletAddress } from '../../api/address.ts';
import { counted, formatCount, shortAddress } from '../../lib/output/format.ts';
import type { ServedCell, ServedTable } from '../activity.ts';
import type { CallAnswer } from './queries.ts';
import { type Route, setQuery, writeHref } from './route.ts';
import { AnswerNote, CopyButton, Empty, seen, Text } from './text.tsx';

interface AnswerTableProps {
  label: string;
  answer: CallAnswer<unknown>;
  /** The ids of the rows, in the order of the answer; they are in the links. */
  ids: readonly string[] | undefined;
  route: Route;
  empty: string;
  omit?: readonly string[];
}

/** The table of an answer, whose rows open in the same view, or why there is none. */
export function AnswerTable({ label, answer, ids = [], route, empty, omit }: AnswerTableProps) {
  const { view, parts, query } = route;
  const [table] = answer.data?.tables ?? [];
  const [id] = parts;
  const hrefOf = (each: string) => writeHref(view, [each], query);
  const selected = id === undefined ? undefined : hrefOf(id);
  return (
    <>
      <AnswerNote label={label} answers={[answer]} />
      {table !== undefined && <DataTable {...{ label, table, route, empty, omit, selected }} hrefs={ids.map(hrefOf)} />}
    </>
  );
}

interface DataTableProps {
  label: string;
  table: ServedTable;
  /** Where each row leads, in the order of the answer. */
  hrefs?: readonly string[];
  selected?: string | undefined;
  /** The address keeps order and filter; without it the table has neither. */
  route?: Route;
  empty: string;
  /** Keys of columns that are not shown. */
  omit?: readonly string[] | undefined;
}

/** The columns of the terminal as a table, sorted by a click on a head and filtered by text. */
export function DataTable({ label, table, hrefs = [], selected, route, empty, omit = [] }: DataTableProps) {
  const [shown, showMore] = useShown();
  const { q = '', sort = '' } = route?.query ?? {};
  const order = useMemo(() => orderRows(table, sort, q), [table, sort, q]);
  if (table.rows.length === 0) return <Empty text={empty} />;
  const columns = table.columns
    .map((column, index) => ({ ...column, index }))
    .filter(({ key, extra }) => !extra && !omit.includes(key));
  const directions = sort.startsWith('-')
    ? { [sort.slice(1)]: 'descending' as const }
    : { [sort]: 'ascending' as const };
  const naming = columns.find(({ index }) => index === table.naming)?.index ?? columns[0]?.index;
  return (
    <>
      {route !== undefined && (
        <div class="tools">
          <input
            type="search"
            aria-label={`Filter ${label.toLowerCase()}`}
            placeholder="Filter: a name, an address"
            value={q}
            onInput={(event) => setQuery(route, { q: event.currentTarget.value })}
          />
          <span class="muted" role="status">
            {order.length < table.rows.length && `${formatCount(order.length)} of `}
            {counted(table.rows.length, 'row')}
          </span>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must too */}
      <section class="scroll" aria-label={`${label}, table`} tabIndex={0}>
        <table aria-label={label}>
          <thead>
            <tr>
              {columns.map(({ key, title, help, side, drop }) => (
                <th key={key} scope="col" class={side} data-drop={drop} aria-sort={directions[key]} title={help}>
                  {route === undefined ? (
                    title
                  ) : (
                    <button type="button" onClick={() => setQuery(route, { sort: nextSort(table, key, sort) })}>
                      {title}
                      <span aria-hidden="true">{{ [key]: ' ▲', [`-${key}`]: ' ▼' }[sort]}</span>
                    </button>
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {order.slice(0, shown).map((row) => (
              <tr key={row} class={hrefs[row] === undefined ? undefined : 'link'} onClick={openRow}>
                {columns.map(({ key, index, side, drop }) => {
                  const cell = table.rows[row]?.[index];
                  return index === naming ? (
                    <th key={key} scope="row" title={hoverText(cell)}>
                      {hrefs[row] === undefined ? (
                        <Cell cell={cell} />
                      ) : (
                        <Text
                          as="a"
                          class="row"
                          href={hrefs[row]}
                          aria-current={hrefs[row] === selected ? 'true' : undefined}
                          text={cell?.short ?? cell?.text ?? ''}
                        />
                      )}
                    </th>
                  ) : (
                    <td key={key} class={`${side} ${cell?.tone ?? ''}`} data-drop={drop} title={hoverText(cell)}>
                      <Cell cell={cell} />
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
        {order.length > shown && (
          <button type="button" class="more" onClick={showMore}>
            Show more
          </button>
        )}
      </section>
    </>
  );
}

/** The content of a cell: addresses, hashes and UUIDs can be copied, other text stays as it is. */
export function Cell({ cell }: { cell: ServedCell | undefined }) {
  const { text = '', value } = cell ?? {};
  if (typeof value === 'number') return <>{text}</>;
  const words = text.split(' ');
  if (!words.every(isId)) return <Text text={text} />;
  return words.map((word) => (
    <span key={word} class="id" title={seen(word)}>
      <CopyButton text={word} what={shortAddress(word)} caption={<Text text={shortAddress(word)} />} />
    </span>
  ));
}

/** Whether a text is an address, a UUID, a hash or, on Solana, the signature that is the id of a transaction. */
function isId(text: string): boolean {
  return (
    isWalletAddress(text) ||
    isUuid(text) ||
    (text.startsWith('0x') && isHashOrKey(text)) ||
    decodeBase58(text, 64) !== undefined
  );
}

/** A click outside of links and buttons opens the row. */
function openRow(event: MouseEvent): void {
  const target = event.target as HTMLElement;
  if (target.closest('a, button') === null) target.closest('tr')?.querySelector<HTMLElement>('a.row')?.click();
}

/** The full value of a cell that is rounded, shortened or cut. */
function hoverText({ value, text }: ServedCell = { text: '', value: '' }): string | undefined {
  const isWhole = String(value) === text && text.length < 30;
  return value === null || value === undefined || isWhole ? undefined : seen(String(value));
}

/** `key` or, downward, `-key`: figures begin with the largest, texts with the first; a third click gives the order of the service. */
function nextSort({ columns, rows }: ServedTable, key: string, sort: string): string {
  const index = columns.findIndex((column) => column.key === key);
  const first = rows.some((cells) => typeof cells[index]?.value === 'number') ? `-${key}` : key;
  const second = first === key ? `-${key}` : key;
  return sort === first ? second : sort === second ? '' : first;
}

/** The rows that hold the wanted text, also in a hidden column, in the order of the table; empty cells come last. */
function orderRows({ columns, rows }: ServedTable, sort: string, wanted: string): number[] {
  const text = wanted.trim().toLowerCase();
  const holds = ({ text: shown, value }: ServedCell) => `${shown} ${value ?? ''}`.toLowerCase().includes(text);
  const found = [...rows.keys()].filter((row) => text === '' || rows[row]?.some(holds));
  const index = columns.findIndex(({ key }) => sort === key || sort === `-${key}`);
  if (index === -1) return found;
  const read = (row: number) => rows[row]?.[index]?.value ?? '';
  return found.sort((a, b) => {
    const [one, other] = [read(a), read(b)];
    if (one === '' || other === '') return Number(one === '') - Number(other === '');
    const difference =
      typeof one === 'number' && typeof other === 'number' ? one - other : String(one).localeCompare(String(other));
    return sort.startsWith('-') ? -difference : difference;
  });
}

const firstRows = 40;
export const rowsAtOnce = 200;

/** How many rows of a list are drawn: some at once, so that they are there soon, then 200, and more when asked for. */
export function useShown(): [shown: number, showMore: () => void] {
  const [shown, show] = useState(firstRows);
  useEffect(() => show(rowsAtOnce), []);
  return [shown, () => show(shown + rowsAtOnce)];
}
