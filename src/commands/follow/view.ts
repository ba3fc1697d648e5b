import type { FollowAnswer } from '../../api/follow-answers.ts';
import type { Profile } from '../../api/profile-answers.ts';
import { column, profileColumns, recordView } from '../../lib/output/columns.ts';
import type { View } from '../../lib/output/view.ts';

/** The profiles that were followed, or unfollowed. */
export const targets: View<FollowAnswer, Profile> = {
  layout: 'table',
  rows: (answer) => answer.targetProfiles,
  columns: profileColumns,
};

/** What `follow bulk --json` prints. */
export interface BulkResult {
  entries: number;
  follows: number;
  unfollows: number;
  requests: number;
  /** Different profiles that were followed or unfollowed. */
  targets: number;
  /** These profiles, in the order of mention; `null` if there are too many to name. */
  targetProfiles: Profile[] | null;
  /** `null` if nothing was sent. */
  undoFile: string | null;
}

export const bulk = recordView<BulkResult>([
  column.count('entries', 'Entries', 'entries sent'),
  column.count('follows', 'Follows', 'of these, follows'),
  column.count('unfollows', 'Unfollows', 'of these, unfollows'),
  column.count('requests', 'Requests', 'requests that were sent'),
  column.count('targets', 'Profiles', 'different profiles that were followed or unfollowed'),
  column.text('undoFile', 'Undo file', 'file that undoes all of it (follow bulk --file)'),
]);
