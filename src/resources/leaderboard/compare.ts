import type { Result } from '../../cli/command.ts';
import { flagsOf } from '../../cli/globals.ts';
import type { Context } from '../../context.ts';
import type { InputOf } from '../../contract/endpoint.ts';
import { leaderboardChains } from '../../model/chain.ts';
import { isObject } from '../../model/json.ts';
import { column, nameColumn } from '../../output/columns.ts';
import { counted } from '../../output/format.ts';
import type { View } from '../../output/view.ts';
import * as endpoints from './endpoints.ts';

type Section = endpoints.SectionsAnswer['sections'][number];
type Entry = Section['commenters'][number];
type Trader = endpoints.LeaderboardAnswer['traders'][number];

/** A trader whom the two versions do not show alike. Places are those in the old list, of the traders that both versions have. */
interface Difference {
  section: string;
  difference: 'order' | 'value' | 'not in V1' | 'not in V2';
  profileId: string;
  name: string;
  list: 'commenters' | 'others' | null;
  placeV1: number | null;
  placeV2: number | null;
  /** In USD; null where the old figure is none. */
  valueV1: number | null;
  valueV2: number | null;
}

interface SectionComparison {
  key: string;
  /** The command of V2 for it; null where there is none. */
  command: string | null;
  /** Traders that both versions show. */
  traders: number;
  /** Fields of a trader, by path, that only one version fills for any of them. */
  fieldsOnlyInV1: string[];
  fieldsOnlyInV2: string[];
  differences: Difference[];
}

interface Comparison {
  sections: SectionComparison[];
}

export const comparison: View<Comparison, Difference> = {
  layout: 'table',
  rows: ({ sections }) => sections.flatMap(({ differences }) => differences),
  columns: [
    column.text('section', 'Section', 'section key'),
    column.text('difference', 'Difference', 'order, value, not in V1, or not in V2'),
    nameColumn('Trader', ({ name }) => name, 24),
    column.text('list', 'List', 'commenters or others', { drop: 2 }),
    column.count('placeV1', 'Place V1', 'place in that list, of the traders in both versions'),
    column.count('placeV2', 'Place V2', 'place of the same traders on the V2 board'),
    column.pnl('valueV1', 'Value V1', 'figure of the section, in USD', { drop: 1 }),
    column.pnl('valueV2', 'Value V2', 'realized PnL of V2, in USD', { drop: 1 }),
    column.text('profileId', 'Profile', 'profile UUID', { extra: true }),
  ],
  notes: ({ sections }) =>
    sections.flatMap(({ key, command, traders, differences, fieldsOnlyInV1, fieldsOnlyInV2 }) => [
      command === null
        ? `Section ${key} has no equivalent in V2.`
        : `Section ${key} and ${command}: ${counted(traders, 'trader')} in both, ${counted(differences.length, 'difference')}.`,
      ...(fieldsOnlyInV1.length === 0 ? [] : [`  only V1 has ${fieldsOnlyInV1.join(', ')}`]),
      ...(fieldsOnlyInV2.length === 0 ? [] : [`  only V2 has ${fieldsOnlyInV2.join(', ')}`]),
    ]),
};

interface CompareInput {
  sections?: string[] | undefined;
  limit?: number | undefined;
  timeframe?: '7d' | '30d' | undefined;
  check?: boolean | undefined;
}

const maxLimit = 250;

/** The sections of V1 beside the boards of V2 that take their place. */
export async function runCompare({ check, ...input }: CompareInput, context: Context): Promise<Result> {
  const { timeframe } = input;
  const { data } = await context.call(endpoints.sections, input);
  const sections: SectionComparison[] = [];
  for (const section of data.sections) {
    const board = boardOf(section.key);
    // A trader beyond the old list is still on the new board.
    const wanted = { ...board, timeframe, limit: maxLimit };
    const traders = board === undefined ? [] : (await context.call(endpoints.list, wanted)).data.traders;
    sections.push(compareSection(section, traders, board === undefined ? null : boardCommand(board, { timeframe })));
  }
  const answer: Comparison = { sections };
  const isDifferent = sections.some(({ differences }) => differences.length > 0);
  return { kind: 'answer', answer, view: comparison, exitCode: check && isDifferent ? 10 : 0 };
}

/** What floating point may leave between two sums of the same trades. */
const sameUsd = 0.005;

function compareSection(section: Section, traders: readonly Trader[], command: string | null): SectionComparison {
  const { key, commenters, others } = section;
  const none = { key, command, traders: 0, fieldsOnlyInV1: [], fieldsOnlyInV2: [], differences: [] };
  if (command === null) return none;
  const onBoard = new Map(traders.map((trader) => [trader.profile.id, trader]));
  const entries = [...commenters, ...others];
  const known = new Set(entries.map(({ id }) => id));
  const differences = [
    ...compareList(key, 'commenters', commenters, traders),
    ...compareList(key, 'others', others, traders),
    ...traders.slice(0, entries.length).flatMap(({ profile: { id, name }, pnl }, at): Difference[] => {
      const places = { list: null, placeV1: null, placeV2: at + 1, valueV1: null, valueV2: pnl.total };
      return known.has(id) ? [] : [{ section: key, difference: 'not in V1', profileId: id, name, ...places }];
    }),
  ];
  const [fieldsV1, fieldsV2] = [new Set<string>(), new Set<string>()];
  const both = entries.filter(({ id }) => onBoard.has(id));
  for (const { reason: _, ...entry } of both) {
    for (const field of fieldsOf(entry)) fieldsV1.add(field);
    const { profile, isFollowedByUser } = onBoard.get(entry.id) as Trader;
    for (const field of fieldsOf({ ...profile, isFollowedByUser })) fieldsV2.add(field);
  }
  return {
    ...{ key, command, traders: both.length, differences },
    fieldsOnlyInV1: [...fieldsV1].filter((field) => !fieldsV2.has(field)).sort(),
    fieldsOnlyInV2: [...fieldsV2].filter((field) => !fieldsV1.has(field)).sort(),
  };
}

function compareList(
  section: string,
  list: 'commenters' | 'others',
  entries: readonly Entry[],
  traders: readonly Trader[],
): Difference[] {
  const ids = new Set(entries.map(({ id }) => id));
  const shared = traders.filter(({ profile }) => ids.has(profile.id));
  const places = new Map(shared.map(({ profile, pnl }, at) => [profile.id, { placeV2: at + 1, valueV2: pnl.total }]));
  let placeV1 = 0;
  return entries.flatMap(({ id, name, reason }): Difference[] => {
    const valueV1 = usdOf(reason);
    const place = places.get(id);
    const facts = { section, profileId: id, name, list, valueV1 };
    if (place === undefined)
      return [{ ...facts, difference: 'not in V2', placeV1: null, placeV2: null, valueV2: null }];
    placeV1 += 1;
    const found = { ...facts, ...place, placeV1 };
    const hasMoved = placeV1 !== place.placeV2;
    const isOther = valueV1 !== null && Math.abs(valueV1 - place.valueV2) > sameUsd;
    return [
      ...(hasMoved ? [{ ...found, difference: 'order' as const }] : []),
      ...(isOther ? [{ ...found, difference: 'value' as const }] : []),
    ];
  });
}

function usdOf({ value, format }: Entry['reason']): number | null {
  const figure = Number(value);
  return format !== 'currency' || value.trim() === '' || Number.isNaN(figure) ? null : figure;
}

/** The filled fields of a trader, those of its metadata by path. */
function fieldsOf(entry: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(entry).flatMap(([key, value]) => {
    if (value === undefined || value === null) return [];
    if (key !== 'metadata' || !isObject(value)) return [key];
    return Object.entries(value).flatMap(([inner, field]) => (field == null ? [] : [`metadata.${inner}`]));
  });
}

/** The V2 command for each section. */
export function equivalents({ sections, ...rest }: InputOf<typeof endpoints.sections.params>): string[] {
  if (sections === undefined)
    return [
      `Section all is now: ${boardCommand({}, rest)}`,
      `The sections of one chain are now: ${boardCommand({ chains: ['<chain>'] }, rest)} (${leaderboardChains.join(', ')})`,
    ];
  return [...new Set(sections)].map((key) => {
    const board = boardOf(key);
    return `Section ${key} ${board === undefined ? 'has no equivalent in V2.' : `is now: ${boardCommand(board, rest)}`}`;
  });
}

type ListInput = InputOf<typeof endpoints.list.params>;

/** The filter of the V2 board that takes the place of an old section; `undefined` where none does. Source: section "GET /v2/leaderboard", equivalents. */
function boardOf(key: string): Pick<ListInput, 'chains'> | undefined {
  const chain = leaderboardChains.find((name) => key === `chain-${name}`);
  if (chain === undefined) return key === 'all' ? {} : undefined;
  return { chains: [chain] };
}

function boardCommand(
  { chains }: { chains?: readonly string[] | undefined },
  { limit, timeframe }: Pick<ListInput, 'limit' | 'timeframe'>,
): string {
  const flags = flagsOf({ '--chains': chains, '--limit': limit, '--timeframe': timeframe });
  return ['sotra leaderboard list', ...flags].join(' ');
}
