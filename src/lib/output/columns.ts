import type { Profile } from '../../api/answers.ts';
import { toUnixSec } from '../../api/duration.ts';
import {
  addressCell,
  type Figure,
  formatAmount,
  formatCount,
  formatRatio,
  formatUsd,
  pnl,
  roi,
  timeCell,
} from './format.ts';
import type { CellText, CellValue, Column, Tone, View } from './view.ts';

type Text = string | null | undefined;
type Flag = boolean | null | undefined;

interface Options<Row> extends Partial<Pick<Column<Row>, 'show' | 'align' | 'drop' | 'extra' | 'cut'>> {
  /** Of texts and addresses; figures have their own. */
  tone?: Tone;
}

type Get<Row, Value> = (row: Row, index: number) => Value;

/** The fields of a row of this type; other fields of a loose object are unknown. */
type FieldName<Row, Value> = string &
  keyof { [Key in keyof Row as string extends Key ? never : Row[Key] extends Value ? Key : never]: Row[Key] };

interface ColumnMaker<Value> {
  <Row>(key: FieldName<Row, Value>, header: string, help: string, options?: Options<Row>): Column<Row>;
  <Row>(key: string, header: string, help: string, get: Get<Row, Value>, options?: Options<Row>): Column<Row>;
}

/** Columns that show their values alike; if `show` returns nothing, the value as it is. */
function kind<Value extends CellValue>(
  show: (value: Value, tone: Tone | undefined) => string | CellText | undefined,
  { read, ...common }: Pick<Column<unknown>, 'align'> & { read?: (number: number) => number } = {},
): ColumnMaker<Value> {
  return <Row>(
    key: string,
    header: string,
    help: string,
    given?: Get<Row, Value> | Options<Row>,
    more: Options<Row> = {},
  ): Column<Row> => {
    const get = typeof given === 'function' ? given : (row: Row) => row[key as keyof Row] as Value;
    const value: Get<Row, Value> = (row, index) => {
      const found = get(row, index);
      return read !== undefined && typeof found === 'number' ? (read(found) as Value) : found;
    };
    const { tone, ...options } = typeof given === 'object' ? given : more;
    return {
      key,
      header,
      help,
      value,
      show: (row, index) => show(value(row, index), tone),
      ...common,
      ...options,
    };
  };
}

const right = { align: 'right' } as const;
const compact = { compact: true };

export const column = {
  text: kind((text: CellValue, tone) => (typeof text === 'string' && tone !== undefined ? { text, tone } : undefined)),
  address: kind((address: Text, tone) => addressCell(address, tone)),
  time: kind((time: Figure) => timeCell(time), { align: 'left', read: toUnixSec }),
  flag: kind((flag: Flag) => (flag === null || flag === undefined ? undefined : flag ? 'yes' : 'no')),
  /** A flag that is good when set and bad otherwise. */
  check: kind((flag: Flag) => (flag ? { text: 'yes', tone: 'gain' } : { text: 'no', tone: 'loss' })),
  count: kind((count: Figure) => formatCount(count), right),
  usd: kind((usd: Figure) => formatUsd(usd), right),
  compactUsd: kind((usd: Figure) => formatUsd(usd, compact), right),
  pnl: kind((usd: Figure) => pnl(usd), right),
  percent: kind((percent: Figure) => roi(percent), right),
  share: kind((share: Figure) => formatRatio(share), right),
  amount: kind((tokens: Figure) => formatAmount(tokens), right),
  compactAmount: kind((tokens: Figure) => formatAmount(tokens, compact), right),
};

export function nameColumn<Row>(header: string, getName: (row: Row) => string): Column<Row> {
  return column.text('name', header, 'display name', getName, { tone: 'strong', cut: true });
}

/** The columns that `changes` names, in that order and so changed, for a part of each row. */
export function pickColumns<Row, Part>(
  columns: readonly Column<Part>[],
  getPart: (row: Row) => Part,
  changes: Readonly<Record<string, Partial<Pick<Column<Part>, 'header' | 'help' | 'drop' | 'extra'>>>>,
): Column<Row>[] {
  return Object.entries(changes).flatMap(([key, changed]) =>
    columns
      .filter((each) => each.key === key)
      .map(({ show, value, ...each }) => ({
        ...each,
        ...changed,
        value: (row, index) => value(getPart(row), index),
        ...(show && { show: (row, index) => show(getPart(row), index) }),
      })),
  );
}

type ViewParts<Answer, Row, Input> = Omit<View<Answer, Row, Input>, 'layout' | 'rows' | 'columns'>;

export function recordView<T, Input = unknown>(
  columns: readonly Column<T>[],
  more: ViewParts<T, T, Input> = {},
): View<T, T, Input> {
  return { layout: 'record', rows: (answer) => [answer], columns, ...more };
}

export function listView<Row, Input = unknown>(
  columns: readonly Column<Row>[],
  more: ViewParts<readonly Row[], Row, Input> = {},
): View<readonly Row[], Row, Input> {
  return { layout: 'table', rows: (items) => items, columns, ...more };
}

/** A profile as lists have it, without metrics and status. */
type ListedProfile = Pick<Profile, 'id' | 'name' | 'addresses' | 'externalId'> & {
  metadata: Pick<
    Profile['metadata'],
    | 'twitterHandle'
    | 'farcasterUsername'
    | 'pnl30d'
    | 'roiPercent30d'
    | 'winRate30d'
    | 'tradeCount30d'
    | 'commentCount30d'
  > &
    Partial<Pick<Profile['metadata'], 'pnl7d' | 'roiPercent7d' | 'winRate7d' | 'tradeCount7d'>>;
};

const extra = { extra: true };
const roiHelp = (days: number) => `return on the tokens sold in ${days} days, percent`;
const tradesHelp = (days: number) => `sells in ${days} days: the closing trades that the win rate counts`;
const pnlHelp = (days: number) => `realized PnL of ${days} days, in USD; a deployment may count unrealized PnL too`;
const winsHelp = 'share of closing trades with a gain, 0 to 1';
const addressesHelp = 'all wallets, separated by spaces';
const externalIdHelp = "the partner's own user id";

/** Columns of a list of profiles. Section "Profile". */
export const profileColumns: readonly Column<ListedProfile>[] = [
  nameColumn('Name', ({ name }) => name),
  column.text('twitter', 'Twitter', 'Twitter handle', ({ metadata }) => metadata.twitterHandle, { drop: 7 }),
  column.pnl('pnl30dUsd', 'PnL 30d', pnlHelp(30), ({ metadata }) => metadata.pnl30d),
  column.percent('roiPercent30d', 'ROI 30d', roiHelp(30), ({ metadata }) => metadata.roiPercent30d, { drop: 2 }),
  column.share('winRate30d', 'Win 30d', winsHelp, ({ metadata }) => metadata.winRate30d, { drop: 3 }),
  column.count('trades30d', 'Trades 30d', tradesHelp(30), ({ metadata }) => metadata.tradeCount30d, { drop: 5 }),
  column.count(
    'comments30d',
    'Comments 30d',
    'swap comments in 30 days',
    (profile) => profile.metadata.commentCount30d,
    { drop: 6 },
  ),
  column.address('address', 'Address', 'first wallet, if there is one', ({ addresses }) => addresses[0], {
    tone: 'muted',
  }),
  column.text('addresses', 'Addresses', addressesHelp, ({ addresses }) => addresses.join(' ') || null, {
    extra: true,
    cut: true,
  }),
  column.text('farcaster', 'Farcaster', 'Farcaster name', ({ metadata }) => metadata.farcasterUsername, extra),
  column.text('externalId', 'External id', externalIdHelp, extra),
  column.text('profileId', 'Profile', 'profile UUID', ({ id }) => id, extra),
  column.pnl('pnl7dUsd', 'PnL 7d', pnlHelp(7), ({ metadata }) => metadata.pnl7d, extra),
  column.percent('roiPercent7d', 'ROI 7d', roiHelp(7), ({ metadata }) => metadata.roiPercent7d, extra),
  column.share('winRate7d', 'Win 7d', winsHelp, ({ metadata }) => metadata.winRate7d, extra),
  column.count('trades7d', 'Trades 7d', tradesHelp(7), ({ metadata }) => metadata.tradeCount7d, extra),
];
