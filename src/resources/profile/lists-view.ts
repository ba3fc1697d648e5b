import type { Profile } from '../../model/profile.ts';
import { profileColumns } from '../../output/columns.ts';
import type { View } from '../../output/view.ts';
import type { ProfilePage } from './endpoints.ts';

/** A page of the profiles that follow one. */
export const followers: View<ProfilePage, Profile> = {
  layout: 'table',
  rows: (page) => page.items,
  columns: profileColumns,
  empty: "Nobody follows this profile in this partner's graph.",
};

/** A page of the profiles that one follows. */
export const follows: View<ProfilePage, Profile> = {
  ...followers,
  empty: "This profile follows nobody in this partner's graph.",
};
