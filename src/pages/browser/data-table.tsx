import { counted, formatCount } from '../../lib/output/format.ts';
import type { ServedCell, ServedColumn, ServedTable } from '../table.ts';
import { Cell, Empty, Skeleton } from './cells.tsx';
import { Input } from './form.tsx';
import { onKeys, useId, useLayoutEffect, useMemo, useState } from './preact.ts';
import { seen, Text } from './text.tsx';
import { useRowBox } from './virtual-list.tsx';

interface DataTableProps {
  label: string;
  table: ServedTable | undefined;
  /** Where each row leads, in the order of the answer. */
  hrefs?: readonly string[];
  empty: string;
  /** A line that changes that. */
  line?: string | undefined;
  error: string;
  /** What is the same in all rows: shown when it is chosen. */
  omit?: readonly string[];
  /** A few rows, of which nothing is chosen. */
  isPlain?: boolean;
}

interface Sorting {
  key: string;
  isDown: boolean;
}

/** As the style sheet has it. */
const rowHeight = 32;

/** The columns of the terminal as a table: sorted by a click on a head, narrowed by what is typed, of any length. */
export function DataTable({
  label,
  table,
  hrefs = [],
  empty,
  line,
  error,
  omit = [],
  isPlain = false,
}: DataTableProps) {
  const [sorting, sort] = useState<Sorting>();
  const [wanted, want] = useState('');
  const [chosen, choose] = useState<readonly string[]>();
  const order = useMemo(() => (table === undefined ? [] : orderRows(table, sorting, wanted)), [table, sorting, wanted]);
  if (table === undefined) return <Skeleton label={label} error={error} />;
  if (table.rows.length === 0) return <Empty text={empty} line={line} />;
  const keys = chosen ?? table.columns.filter(({ key, extra }) => !extra && !omit.includes(key)).map(({ key }) => key);
  return (
    <div class="data">
      {!isPlain && (
        <div class="data-tools">
          <Input
            label={<span class="hidden">Filter {label.toLowerCase()}</span>}
            type="search"
            placeholder="Filter: a name, an address"
            value={wanted}
            onType={want}
          />
          <span class="muted" role="status">
            {order.length < table.rows.length && `${formatCount(order.length)} of `}
            {counted(table.rows.length, 'row')}
          </span>
          <Columns columns={table.columns} keys={keys} onChoose={choose} />
        </div>
      )}
      <Rows
        {...{ label, table, hrefs, order, keys, sorting }}
        onSort={(key) => sort((now) => nextSorting(table, key, now))}
      />
    </div>
  );
}

interface ColumnsProps {
  columns: readonly ServedColumn[];
  keys: readonly string[];
  onChoose: (keys: readonly string[]) => void;
}

function Columns({ columns, keys, onChoose }: ColumnsProps) {
  const toggle = (key: string) => onChoose(keys.includes(key) ? keys.filter((each) => each !== key) : [...keys, key]);
  return (
    <details class="choose">
      <summary>Columns</summary>
      <div>
        {columns.map(({ key, title, help }) => (
          <label key={key} title={help}>
            <input type="checkbox" checked={keys.includes(key)} onChange={() => toggle(key)} /> {title}
            <span class="muted"> {key}</span>
          </label>
        ))}
      </div>
    </details>
  );
}

interface RowsProps extends Pick<DataTableProps, 'label'> {
  table: ServedTable;
  hrefs: readonly string[];
  order: readonly number[];
  keys: readonly string[];
  sorting: Sorting | undefined;
  onSort: (key: string) => void;
}

/** Of a long table only what is seen is on the page; arrows or j and k, Page, Home and End go from row to row. */
function Rows({ label, table, hrefs, order, keys, sorting, onSort }: RowsProps) {
  const { box, first, end, walk } = useRowBox({ count: order.length, rowHeight, headRows: 1 });
  const name = useId();
  const [at, setAt] = useState<number>();
  useLayoutEffect(() => {
    if (at !== undefined) document.getElementById(`${name}-${at}`)?.focus({ preventScroll: true });
  }, [at]);
  const onKeyDown = onKeys(walk(at ?? -1, setAt));
  const shown = table.columns.map((column, index) => ({ ...column, index })).filter(({ key }) => keys.includes(key));
  const naming = shown.find(({ index }) => index === table.naming)?.index ?? shown[0]?.index;
  const chainAt = table.columns.findIndex(({ key }) => key === 'chain' || key === 'scope');
  const spacer = (rows: number) => rows > 0 && <tr style={{ height: `${rows * rowHeight}px` }} />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its links take the keys too
    <div
      ref={box}
      class="scroll"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and takes the keys
      tabIndex={0}
      style={{ '--rows': `${(order.length + 1) * rowHeight + 2}px` }}
      onKeyDown={onKeyDown}
    >
      <table aria-label={label} aria-rowcount={order.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {shown.map(({ key, title, help, side }) => (
              <th key={key} scope="col" class={side} aria-sort={sayOrder(key, sorting)} title={help}>
                <button type="button" onClick={() => onSort(key)}>
                  {title}
                  <span aria-hidden="true">{sorting?.key !== key ? '' : sorting.isDown ? ' ▼' : ' ▲'}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {spacer(first)}
          {order.slice(first, end).map((row, place) => (
            <tr key={row} aria-rowindex={first + place + 2} class={first + place === at ? 'at' : undefined}>
              {shown.map(({ key, index, side }) => {
                const cell = table.rows[row]?.[index];
                return index === naming ? (
                  <th key={key} scope="row" title={hoverText(cell)}>
                    {hrefs[row] === undefined ? (
                      <Cell cell={cell} />
                    ) : (
                      <Text
                        as="a"
                        id={`${name}-${first + place}`}
                        href={hrefs[row]}
                        onFocus={() => setAt(first + place)}
                        text={cell?.short ?? cell?.text ?? ''}
                      />
                    )}
                  </th>
                ) : (
                  <td key={key} class={`${side} ${cell?.tone ?? ''}`} title={hoverText(cell)}>
                    <Cell cell={cell} chain={String(table.rows[row]?.[chainAt]?.value ?? '')} />
                  </td>
                );
              })}
            </tr>
          ))}
          {spacer(order.length - end)}
        </tbody>
      </table>
    </div>
  );
}

/** What the cell was rounded, shortened or cut from. */
function hoverText({ value, text }: ServedCell = { text: '', value: '' }): string | undefined {
  const isWhole = String(value) === text && text.length < longText;
  return value === null || value === undefined || isWhole ? undefined : seen(String(value));
}

const longText = 30;

function sayOrder(key: string, sorting: Sorting | undefined): 'ascending' | 'descending' | undefined {
  return sorting?.key === key ? (sorting.isDown ? 'descending' : 'ascending') : undefined;
}

/** Figures begin with the largest, texts with the first; a third click gives the order of the service. */
function nextSorting({ columns, rows }: ServedTable, key: string, now: Sorting | undefined): Sorting | undefined {
  const index = columns.findIndex((column) => column.key === key);
  const startsDown = rows.some((cells) => typeof cells[index]?.value === 'number');
  if (now?.key !== key) return { key, isDown: startsDown };
  return now.isDown === startsDown ? { key, isDown: !startsDown } : undefined;
}

/** The rows in which what is wanted stands somewhere, also in a column that is not shown; empty cells come last. */
function orderRows({ columns, rows }: ServedTable, sorting: Sorting | undefined, wanted: string): number[] {
  const text = wanted.trim().toLowerCase();
  const holds = ({ text: shown, value }: ServedCell) =>
    shown.toLowerCase().includes(text) ||
    String(value ?? '')
      .toLowerCase()
      .includes(text);
  const found = [...rows.keys()].filter((row) => text === '' || rows[row]?.some(holds));
  if (sorting === undefined) return found;
  const index = columns.findIndex(({ key }) => key === sorting.key);
  const read = (row: number) => rows[row]?.[index]?.value ?? '';
  return found.sort((a, b) => {
    const [one, other] = [read(a), read(b)];
    if (one === '' || other === '') return Number(one === '') - Number(other === '');
    const difference =
      typeof one === 'number' && typeof other === 'number' ? one - other : String(one).localeCompare(String(other));
    return sorting.isDown ? -difference : difference;
  });
}
