import type { Profile } from '../../model/profile.ts';
import { profileColumns } from '../../output/columns.ts';
import { formatCount } from '../../output/format.ts';
import type { Column, View } from '../../output/view.ts';
import type { FollowAnswer } from './endpoints.ts';

/** The profiles that were followed, or unfollowed. */
export const targets: View<FollowAnswer, Profile> = {
  layout: 'table',
  rows: (answer) => answer.targetProfiles,
  columns: profileColumns,
};

const count = (key: keyof BulkResult & string, header: string, help: string): Column<BulkResult> => ({
  key,
  header,
  help,
  value: (result) => result[key] as number,
  show: (result) => formatCount(result[key] as number),
});

/** What `follow bulk --json` prints. */
export interface BulkResult {
  entries: number;
  follows: number;
  unfollows: number;
  requests: number;
  /** Different profiles that were followed or unfollowed. */
  targets: number;
  /** These profiles, in the order of mention; `null` where there are too many to name. */
  targetProfiles: Profile[] | null;
  /** `null` where nothing was sent. */
  undoFile: string | null;
}

export const bulk: View<BulkResult, BulkResult> = {
  layout: 'record',
  rows: (result) => [result],
  columns: [
    count('entries', 'Entries', 'entries that were sent'),
    count('follows', 'Follows', 'of these, entries that follow'),
    count('unfollows', 'Unfollows', 'of these, entries that unfollow'),
    count('requests', 'Requests', 'requests they were sent in'),
    count('targets', 'Profiles', 'different profiles that were followed or unfollowed'),
    {
      key: 'undoFile',
      header: 'Undo file',
      help: 'entries that take all of it back: give it to follow bulk --file',
      value: (result) => result.undoFile,
    },
  ],
};
