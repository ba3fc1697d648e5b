import { formatCount, formatRatio, pnl, roi, shortAddress } from '../../src/lib/output/format.ts';
import type { Form, Rows, View } from '../../src/lib/output/view.ts';

export interface Trader {
  rank: number;
  name: string;
  address: string;
  pnlUsd: number;
  roiPercent: number | null;
  winRate: number;
  trades: number;
  bio: string | null;
}

export const traders: readonly Trader[] = [
  {
    rank: 1,
    name: 'vitalik_jr',
    address: '0x1234567890abcdef1234567890abcdef1234cdef',
    pnlUsd: 128340.52,
    roiPercent: 212.4,
    winRate: 0.72,
    trades: 1412,
    bio: 'buys what the timeline sells, then waits',
  },
  {
    rank: 2,
    name: '日本のトレーダー',
    address: '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU',
    pnlUsd: -12.5,
    roiPercent: -0.042,
    winRate: 0.5,
    trades: 4,
    bio: '👨‍👩‍👧 né',
  },
  {
    rank: 3,
    name: 'anon',
    address: '0xabcdefabcdefabcdefabcdefabcdefabcdef0000',
    pnlUsd: 0,
    roiPercent: null,
    winRate: 0,
    trades: 0,
    bio: null,
  },
];

/** A view with every kind of column: numbers, money, cut text, a missing value, one shown on request only. */
export const traderView: View<readonly Trader[], Trader> = {
  layout: 'table',
  rows: (answer) => answer,
  columns: [
    { key: 'rank', header: 'Rank', help: 'The rank.', value: (row) => row.rank },
    { key: 'name', header: 'Trader', help: 'The name.', value: (row) => row.name, cut: true },
    {
      key: 'address',
      header: 'Address',
      help: 'The address.',
      value: (row) => row.address,
      show: (row) => shortAddress(row.address),
      cut: true,
    },
    {
      key: 'pnl',
      header: 'PnL 30d',
      help: 'Profit or loss in USD.',
      value: (row) => row.pnlUsd,
      show: (row) => pnl(row.pnlUsd),
    },
    {
      key: 'roi',
      header: 'ROI',
      help: 'In percent.',
      value: (row) => row.roiPercent,
      show: (row) => roi(row.roiPercent),
    },
    {
      key: 'winRate',
      header: 'Win rate',
      help: 'The share of gains.',
      value: (row) => row.winRate,
      show: (row) => formatRatio(row.winRate),
    },
    {
      key: 'trades',
      header: 'Trades',
      help: 'How many.',
      value: (row) => row.trades,
      show: (row) => formatCount(row.trades),
      extra: true,
    },
    { key: 'bio', header: 'Bio', help: 'What the trader says.', value: (row) => row.bio, cut: true },
  ],
};

/** A view of plain texts: one column for each position. */
export const textView: View<readonly (readonly string[])[], readonly string[]> = {
  layout: 'table',
  rows: (answer) => answer,
  columns: [
    { key: 'first', header: 'First', help: 'A text.', value: (row) => row[0], cut: true },
    { key: 'second', header: 'Second', help: 'A text.', value: (row) => row[1], cut: true },
  ],
};

/** What a form makes of rows, those of one answer unless it is a list. */
export async function writeForm(
  form: Form,
  rows: Pick<Rows, 'view'> & Partial<Rows>,
  ...batches: (readonly unknown[])[]
): Promise<string> {
  async function* give() {
    yield* batches;
  }
  const toJson = (batch: readonly unknown[]) => batch.map((row) => JSON.stringify(row ?? null));
  const given = { columns: undefined, input: {}, toJson, answer: { json: undefined, blocks: [] }, ...rows };
  let text = '';
  for await (const piece of form({ ...given, batches: give() })) text += piece;
  return text;
}
