import { addressCell } from '../../output/format.ts';
import type { Column } from '../../output/view.ts';
import type { CopytradedAnswer, LeaderboardAnswer } from './endpoints.ts';

type Trader = Pick<
  LeaderboardAnswer['traders'][number] & CopytradedAnswer['traders'][number],
  'profile' | 'isFollowedByUser'
>;

/** Whether followed, the wallets and the profile's UUID: how a row of either leaderboard ends. */
export const trailing: readonly Column<Trader>[] = [
  {
    key: 'isFollowedByUser',
    header: 'Followed',
    help: 'whether one of the viewer addresses follows the trader; needs --viewer-addresses',
    value: (trader) => trader.isFollowedByUser,
    show: (trader) => (trader.isFollowedByUser === undefined ? '–' : trader.isFollowedByUser ? 'yes' : 'no'),
    extra: true,
  },
  {
    key: 'address',
    header: 'Address',
    help: "the profile's first wallet",
    value: ({ profile }) => profile.addresses[0],
    show: ({ profile }) => addressCell(profile.addresses[0], 'muted'),
  },
  {
    key: 'addresses',
    header: 'Addresses',
    help: 'all wallets of the profile, separated by spaces',
    value: ({ profile }) => profile.addresses.join(' ') || null,
    extra: true,
    cut: 'end',
  },
  { key: 'profileId', header: 'Profile', help: 'profile UUID', value: ({ profile }) => profile.id, extra: true },
];
