import { leaderboardChains } from '../../model/chain.ts';
import type { Profile } from '../../model/profile.ts';
import { formatCount, formatRatio, formatUsd, pnl, roi } from '../../output/format.ts';
import type { Block, Column, View } from '../../output/view.ts';
import { profileChart } from './chart.ts';
import type { ProfileAnswer } from './endpoints.ts';

const handleKeys = ['twitterHandle', 'farcasterUsername', 'lensHandle', 'ensName', 'debankName', 'hlName'] as const;

function handles({ metadata }: Profile): string {
  return handleKeys
    .flatMap((key) => (metadata[key] ? [`${key.replace(/(Handle|Username|Name)$/, '')}:${metadata[key]}`] : []))
    .join('  ');
}

function holding(minutes: number | null | undefined): string {
  if (minutes === null || minutes === undefined) return '–';
  if (minutes < 120) return `${Math.round(minutes)} min`;
  return minutes < 2880 ? `${(minutes / 60).toFixed(1)} h` : `${(minutes / 1440).toFixed(1)} days`;
}

function flags({ isNSFW }: Profile): string | undefined {
  if (isNSFW === false || isNSFW === undefined) return undefined;
  return [isNSFW.nsfwImage ? 'image' : '', isNSFW.nsfwText ? 'text' : ''].filter((part) => part !== '').join(' and ');
}

const columns: readonly Column<Profile>[] = [
  {
    key: 'name',
    header: 'Name',
    help: 'display name',
    value: (profile) => profile.name,
    show: (profile) => ({ text: profile.name, tone: 'strong' }),
  },
  { key: 'id', header: 'Profile', help: 'profile UUID', value: (profile) => profile.id },
  {
    key: 'status',
    header: 'Status',
    help: 'tracking by the indexer: unnamed (not tracked), backfilling, active',
    value: (profile) => profile.status,
  },
  { key: 'handles', header: 'Handles', help: 'social handles', value: (profile) => handles(profile) || null },
  {
    key: 'addresses',
    header: 'Addresses',
    help: 'wallets of the profile, separated by spaces',
    value: (profile) => profile.addresses.join(' ') || null,
    cut: 'end',
  },
  {
    key: 'externalId',
    header: 'External id',
    help: "the partner's own user id",
    value: (profile) => profile.externalId,
    extra: true,
  },
  {
    key: 'followers',
    header: 'Followers',
    help: "followers in this partner's graph",
    value: ({ metrics }) => metrics?.thisPartner?.followerCount,
    show: ({ metrics }) => both(metrics?.thisPartner?.followerCount, metrics?.allPartners?.followerCount),
  },
  {
    key: 'following',
    header: 'Following',
    help: "profiles it follows in this partner's graph",
    value: ({ metrics }) => metrics?.thisPartner?.followingCount,
    show: ({ metrics }) => both(metrics?.thisPartner?.followingCount, metrics?.allPartners?.followingCount),
  },
  {
    key: 'comments',
    header: 'Comments',
    help: 'swap comments of all time',
    value: ({ metrics }) => metrics?.comments?.commentCountAllTime,
    show: ({ metrics }) =>
      `${formatCount(metrics?.comments?.commentCountAllTime)} (${formatCount(metrics?.comments?.commentCount30d)} in 30 days)`,
  },
  {
    key: 'copiedUsd',
    header: 'Copied',
    help: 'copy-trade volume of its comments, in USD',
    value: ({ metrics }) => metrics?.copytradedAllTime?.volumeUSD,
    show: ({ metrics }) => copied(metrics?.copytradedAllTime),
  },
  {
    key: 'holdingMinutes',
    header: 'Holds for',
    help: 'median holding time, in minutes',
    value: ({ metadata }) => metadata.medianHoldingTimeMinutes,
    show: ({ metadata }) => holding(metadata.medianHoldingTimeMinutes),
  },
  { key: 'nsfw', header: 'NSFW', help: 'what the scanner flagged: image, text', value: flags, extra: true },
  {
    key: 'isFollowedByUser',
    header: 'Followed',
    help: 'whether one of the viewer addresses follows it; needs --viewer-addresses',
    value: (profile) => profile.isFollowedByUser,
    extra: true,
  },
  {
    key: 'pnl7dUsd',
    header: 'PnL 7d',
    help: 'realized PnL of 7 days, in USD',
    value: ({ metadata }) => metadata.pnl7d,
    extra: true,
  },
  {
    key: 'pnl30dUsd',
    header: 'PnL 30d',
    help: 'realized PnL of 30 days, in USD',
    value: ({ metadata }) => metadata.pnl30d,
    extra: true,
  },
];

function both(own: number | null | undefined, all: number | null | undefined): string {
  return `${formatCount(own)} here, ${formatCount(all)} in all`;
}

function copied(
  copies:
    | {
        count?: number | null | undefined;
        distinctActors?: number | null | undefined;
        volumeUSD?: number | null | undefined;
      }
    | undefined,
): string {
  return `${formatUsd(copies?.volumeUSD)} in ${formatCount(copies?.count)} trades by ${formatCount(copies?.distinctActors)} people`;
}

interface FigureRow {
  scope: string;
  window: '7d' | '30d';
  pnl: number | null | undefined;
  roi: number | null | undefined;
  volume?: number | null | undefined;
  wins?: number | null | undefined;
  trades?: number | null | undefined;
}

const figureColumns: readonly Column<FigureRow>[] = [
  { key: 'scope', header: 'Chain', help: 'chain', value: (row) => row.scope },
  { key: 'window', header: 'Window', help: 'window', value: (row) => row.window },
  {
    key: 'pnl',
    header: 'PnL',
    help: 'realized PnL',
    value: (row) => row.pnl,
    show: (row) => pnl(row.pnl),
    align: 'right',
  },
  { key: 'roi', header: 'ROI', help: 'return', value: (row) => row.roi, show: (row) => roi(row.roi), align: 'right' },
  {
    key: 'volume',
    header: 'Volume',
    help: 'volume',
    value: (row) => row.volume,
    show: (row) => formatUsd(row.volume, { compact: true }),
    align: 'right',
  },
  {
    key: 'wins',
    header: 'Wins',
    help: 'win rate',
    value: (row) => row.wins,
    show: (row) => formatRatio(row.wins),
    align: 'right',
  },
  {
    key: 'trades',
    header: 'Trades',
    help: 'trades',
    value: (row) => row.trades,
    show: (row) => formatCount(row.trades),
    align: 'right',
  },
];

function figures({ metadata }: Profile): readonly FigureRow[] {
  const total = (window: '7d' | '30d'): FigureRow => ({
    scope: 'all',
    window,
    pnl: metadata[`pnl${window}`],
    roi: metadata[`roiPercent${window}`],
    wins: metadata[`winRate${window}`],
    trades: metadata[`tradeCount${window}`],
  });
  const chain = (scope: string, window: '7d' | '30d'): FigureRow[] => {
    const usd = metadata[`perChainPnl${window}`]?.[scope] as number | null | undefined;
    if (usd === null || usd === undefined) return [];
    const roiPercent = metadata[`perChainRoiPercent${window}`]?.[scope] as number | null | undefined;
    return [
      {
        scope,
        window,
        pnl: usd,
        roi: roiPercent,
        volume: metadata[`perChainVolumeUsd${window}`]?.[scope] as number | null | undefined,
      },
    ];
  };
  return [
    total('7d'),
    total('30d'),
    ...leaderboardChains.flatMap((name) => [...chain(name, '7d'), ...chain(name, '30d')]),
  ];
}

/** One profile: who it is, then a table of figures by chain and window. */
export const get: View<ProfileAnswer, Profile> = {
  layout: 'record',
  rows: (profile) => [profile],
  columns,
  blocks: (profile): Block[] => [{ title: 'Trading', layout: 'table', columns: figureColumns, rows: figures(profile) }],
  chart: profileChart,
};

const unnamedColumns = ['status', 'followers', 'following', 'comments', 'copiedUsd', 'holdingMinutes'];

/** A profile after its name changed: the plain form, without metrics and status. */
export const named: View<ProfileAnswer, Profile> = {
  layout: 'record',
  rows: (profile) => [profile],
  columns: [
    ...columns.filter(({ key }) => !unnamedColumns.includes(key)),
    {
      key: 'avatarUrl',
      header: 'Avatar',
      help: 'address of the avatar in full size',
      value: ({ images }) => images.raw,
      cut: 'end',
    },
  ],
};
