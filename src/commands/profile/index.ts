import type { Profile, ProfilePage } from '../../api/answers.ts';
import { chainTitles, leaderboardChains } from '../../api/chain.ts';
import { optional } from '../../api/kind.ts';
import { ofProfile } from '../../api/position.ts';
import * as endpoints from '../../api/profile.ts';
import { column, pickColumns, profileColumns, recordView } from '../../lib/output/columns.ts';
import { counted, type Figure, formatCount, formatUsd } from '../../lib/output/format.ts';
import type { Bar, Block, Column, View } from '../../lib/output/view.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand, chartParam } from '../endpoint-command.ts';
import { option } from '../params.ts';
import { chooseView, priceParams, profilePositions } from '../position/index.ts';

export function setUp(profile: Command): void {
  addEndpointCommand(profile, 'get', endpoints.get, { view: get, params: { chart: chartParam } }).shares('showNsfw');
  addEndpointCommand(profile, 'positions', ofProfile, {
    view: profilePositions(),
    params: { ...priceParams, chart: chartParam },
    chooseView: chooseView(profilePositions),
  }).shares('showNsfw');
  addEndpointCommand(profile, 'followers', endpoints.followers, { view: followers }).shares('showNsfw');
  addEndpointCommand(profile, 'follows', endpoints.follows, { view: follows }).shares('showNsfw');
  addSetName(profile);
  addEndpointCommand(profile, 'delete-name', endpoints.deleteName, {
    view: named,
    description: 'Asks for confirmation on a terminal; elsewhere it needs --yes.',
    confirms: ({ identifier }) => `remove the name and avatar of ${identifier} at your partner`,
  }).shares('showNsfw');
}

function addSetName(profile: Command): void {
  addEndpointCommand(profile, 'set-name', endpoints.setName, {
    view: named,
    params: {
      name: { ...endpoints.setName.params.name, kind: optional(endpoints.nameKind), help: 'new name' },
      avatarUrl: {
        ...endpoints.setName.params.avatarUrl,
        kind: optional(endpoints.avatarKind),
        help: 'URL of the new avatar',
      },
      clear: option.flag('remove name and avatar', { conflicts: ['name', 'avatarUrl'] }),
      clearAvatar: option.flag('remove only the avatar', { conflicts: ['avatarUrl'] }),
    },
    description:
      "Omitted values stay unchanged. The answer has the name with your partner's suffix.\n" +
      'An avatar needs a name. It is a JPEG or PNG of at least 120x120 pixels and at most 5 MB.\n' +
      'Removing a name or avatar asks on a terminal; elsewhere it needs --yes.',
    requireAnyOf: [['name', 'avatarUrl', 'clear', 'clearAvatar']],
    confirms: (typed) => {
      if (!typed.clear && !typed.clearAvatar) return undefined;
      return `remove the ${typed.clear ? 'name and avatar' : 'avatar'} of ${typed.identifier} at your partner`;
    },
    prepare: (typed) => ({
      ...typed,
      ...(typed.clear && { name: null }),
      ...(typed.clearAvatar && { avatarUrl: null }),
    }),
  }).shares('showNsfw');
}

const handleKeys = ['twitterHandle', 'farcasterUsername', 'lensHandle', 'ensName', 'debankName', 'hlName'] as const;

function handles({ metadata }: Profile): string {
  return handleKeys
    .flatMap((key) => (metadata[key] ? [`${key.replace(/(Handle|Username|Name)$/, '')}:${metadata[key]}`] : []))
    .join('  ');
}

function sayMinutes(minutes: Figure): string {
  if (minutes === null || minutes === undefined) return '–';
  if (minutes < 120) return `${Math.round(minutes)} min`;
  return minutes < 2880 ? `${(minutes / 60).toFixed(1)} h` : `${(minutes / 1440).toFixed(1)} days`;
}

function flags({ isNSFW }: Profile): string | undefined {
  if (isNSFW === false || isNSFW === undefined) return undefined;
  return [isNSFW.nsfwImage ? 'image' : '', isNSFW.nsfwText ? 'text' : ''].filter((part) => part !== '').join(' and ');
}

const followedHelp = 'whether one of the --viewer-addresses follows it';
const own = ({ metrics }: Profile) => metrics?.thisPartner;
const all = ({ metrics }: Profile) => metrics?.allPartners;
const readComments = ({ metrics }: Profile) => metrics?.comments;
const readCopies = ({ metrics }: Profile) => metrics?.copytradedAllTime;
const minutesHeld = ({ metadata }: Profile) => metadata.medianHoldingTimeMinutes;

const columns: readonly Column<Profile>[] = [
  column.text('name', 'Name', 'display name', { tone: 'strong' }),
  column.text('id', 'Profile', 'profile UUID'),
  column.text('status', 'Status', 'tracking status: unnamed (not tracked), backfilling or active'),
  column.text('handles', 'Handles', 'social handles', (profile) => handles(profile) || null),
  ...pickColumns(profileColumns, (profile: Profile) => profile, { addresses: { extra: false }, externalId: {} }),
  column.text('followers', 'Followers', "followers in this partner's graph", (profile) => own(profile)?.followerCount, {
    show: (profile) => profile.metrics && both(own(profile)?.followerCount, all(profile)?.followerCount),
  }),
  column.text('following', 'Following', 'profiles it follows there', (profile) => own(profile)?.followingCount, {
    show: (profile) => profile.metrics && both(own(profile)?.followingCount, all(profile)?.followingCount),
  }),
  column.text('comments', 'Comments', 'swap comments', (profile) => readComments(profile)?.commentCountAllTime, {
    show: (profile) => profile.metrics && sayComments(profile),
  }),
  column.text('copiedUsd', 'Copied', 'volume of its copy trades, in USD', (profile) => readCopies(profile)?.volumeUSD, {
    show: (profile) => profile.metrics && sayCopies(profile),
  }),
  column.text('holdingMinutes', 'Holds for', 'median holding time, in minutes', minutesHeld, {
    show: (profile) => sayMinutes(minutesHeld(profile)),
  }),
  column.text('nsfw', 'NSFW', 'what is flagged as NSFW: image, text', flags, { extra: true }),
  column.text('isFollowedByUser', 'Followed', followedHelp, { extra: true }),
  ...pickColumns(profileColumns, (profile: Profile) => profile, { pnl7dUsd: {}, pnl30dUsd: { extra: true } }),
];

function both(own: Figure, all: Figure): string {
  return `${formatCount(own)} here, ${formatCount(all)} in all`;
}

function sayComments(profile: Profile): string {
  const comments = readComments(profile);
  return `${formatCount(comments?.commentCountAllTime)} (${formatCount(comments?.commentCount30d)} in 30 days)`;
}

function sayCopies(profile: Profile): string {
  const copies = readCopies(profile);
  return `${formatUsd(copies?.volumeUSD)} in ${counted(copies?.count, 'trade')} by ${counted(copies?.distinctActors, 'user')}`;
}

interface FigureRow {
  scope: 'all' | (typeof leaderboardChains)[number];
  window: Window;
  pnl: Figure;
  roi: Figure;
  volume?: Figure;
  wins?: Figure;
  trades?: Figure;
}

const figureColumns: readonly Column<FigureRow>[] = [
  column.text('scope', 'Chain', 'chain'),
  column.text('window', 'Window', 'window'),
  column.pnl('pnl', 'PnL', 'realized PnL'),
  column.percent('roi', 'ROI', 'return'),
  column.compactUsd('volume', 'Volume', 'volume'),
  column.share('wins', 'Wins', 'win rate'),
  column.count('trades', 'Trades', 'trades'),
];

const windows = ['7d', '30d'] as const;
type Window = (typeof windows)[number];

/** The figures of all chains together and of each, those without a PnL too. */
function listFigures({ metadata }: Profile): FigureRow[] {
  const all = windows.map((window) => ({
    scope: 'all' as const,
    window,
    pnl: metadata[`pnl${window}`],
    roi: metadata[`roiPercent${window}`],
    wins: metadata[`winRate${window}`],
    trades: metadata[`tradeCount${window}`],
  }));
  const byChain = leaderboardChains.flatMap((scope) =>
    windows.map((window) => ({
      scope,
      window,
      pnl: metadata[`perChainPnl${window}`]?.[scope] as Figure,
      roi: metadata[`perChainRoiPercent${window}`]?.[scope] as Figure,
      volume: metadata[`perChainVolumeUsd${window}`]?.[scope] as Figure,
    })),
  );
  return [...all, ...byChain];
}

const get = recordView<Profile>(columns, {
  blocks: (profile): Block[] => {
    const rows = listFigures(profile).filter(({ scope, pnl }) => scope === 'all' || (pnl ?? null) !== null);
    return [{ title: 'Trading', layout: 'table', columns: figureColumns, rows }];
  },
  chart: ([profile]) => ({
    title: `Realized PnL of ${profile?.name ?? 'the profile'}: 7 days against 30`,
    bars: profile === undefined ? [] : makeBars(profile),
  }),
});

/** Realized PnL of 7 and of 30 days, in all and by chain; without chains that have no figures. */
function makeBars(profile: Profile): Bar[] {
  const figures = listFigures(profile).map((row) => ({ ...row, usd: typeof row.pnl === 'number' ? row.pnl : null }));
  const known = new Set(figures.flatMap(({ scope, usd }) => (usd === null ? [] : [scope])));
  return figures
    .filter(({ scope }) => known.has(scope))
    .map(({ scope, window, usd }) => ({
      label: `${scope === 'all' ? 'All chains' : chainTitles[scope]} ${window}`,
      usd,
    }));
}

const unnamedColumns = ['status', 'followers', 'following', 'comments', 'copiedUsd', 'holdingMinutes'];

/** The plain form, without metrics and status. */
const named = recordView<Profile>([
  ...columns.filter(({ key }) => !unnamedColumns.includes(key)),
  column.text('avatarUrl', 'Avatar', 'URL of the full-size avatar', ({ images }) => images.raw, { cut: true }),
]);

const followers: View<ProfilePage, Profile> = {
  layout: 'table',
  rows: ({ items }) => items,
  columns: profileColumns,
  empty: 'No followers at this partner.',
};

const follows: View<ProfilePage, Profile> = {
  ...followers,
  empty: 'Follows nobody at this partner.',
};
