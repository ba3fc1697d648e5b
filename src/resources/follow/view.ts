import type { Profile } from '../../model/profile.ts';
import { column, profileColumns } from '../../output/columns.ts';
import type { View } from '../../output/view.ts';
import type { BulkResult } from './bulk.ts';
import type { FollowAnswer } from './endpoints.ts';

/** The profiles that were followed, or unfollowed. */
export const targets: View<FollowAnswer, Profile> = {
  layout: 'table',
  rows: (answer) => answer.targetProfiles,
  columns: profileColumns,
};

/** What a bulk run did. */
export const bulk: View<BulkResult, BulkResult> = {
  layout: 'record',
  rows: (result) => [result],
  columns: [
    column.count('entries', 'Entries', 'entries that were sent'),
    column.count('follows', 'Follows', 'of these, entries that follow'),
    column.count('unfollows', 'Unfollows', 'of these, entries that unfollow'),
    column.count('requests', 'Requests', 'requests they were sent in'),
    column.count('targets', 'Profiles', 'different profiles that were followed or unfollowed'),
    column.text('undoFile', 'Undo file', 'entries that undo all of it, for follow bulk --file'),
  ],
};
