import { z } from 'zod';
import { type Command, defineCommand, type Result } from '../cli/command.ts';
import { allItems, serviceExitCodes } from '../cli/endpoint-command.ts';
import { option } from '../cli/params.ts';
import type { Context } from '../context.ts';
import { local } from '../contract/endpoint.ts';
import { orUndefined, usageError } from '../errors.ts';
import { openOutput, openTwice } from '../files/source.ts';
import { normalizeAddress } from '../model/address.ts';
import { namesOf } from '../model/identifier.ts';
import type { Profile } from '../model/profile.ts';
import { column, listView } from '../output/columns.ts';
import { counted, formatCount } from '../output/format.ts';
import { readEntries } from '../resources/follow/bulk.ts';
import { type BulkEntry, reversed } from '../resources/follow/endpoints.ts';
import { checkUndoFile } from '../resources/follow/undo.ts';
import { follows as followsOf, get as getProfile } from '../resources/profile/endpoints.ts';

interface PlannedTarget {
  /** Of the file, or the place in its array. */
  line: number;
  follower: string;
  target: string;
  change: 'follow' | 'unfollow' | 'nothing';
  /** Name of the whole profile that this concerns; null where it is not known. */
  name: string | null;
  wallets: number | null;
}

const view = listView<PlannedTarget>(
  [
    column.text('line', 'Line', 'line of the file, or place in its array', { align: 'right' }),
    column.address('follower', 'Follower', 'who follows'),
    column.text('change', 'Change', 'follow, unfollow, or nothing: no change is needed'),
    column.address('target', 'Target', 'whom, as the file says'),
    column.text('name', 'Profile', 'name of the profile that this concerns', { cut: 'end' }),
    column.count('wallets', 'Wallets', 'all wallets of that profile', { drop: 1 }),
  ],
  { empty: 'There are no entries.', notes: notesOf },
);

function notesOf(planned: readonly PlannedTarget[]): string[] {
  const changes = planned.filter(({ change }) => change !== 'nothing');
  const wide = changes.filter(({ change, wallets }) => change === 'follow' && (wallets ?? 0) > 1);
  return [
    `${formatCount(changes.length)} of ${counted(planned.length, 'target')} would change; nothing was sent.`,
    ...(wide.length === 0
      ? []
      : [`A follow is of the whole profile, not of one wallet: ${formatCount(wide.length)} of them have several.`]),
  ];
}

const plan: Command = defineCommand({
  words: ['follow', 'plan'],
  summary: 'Show what follow bulk would change, by what each follower follows now',
  description:
    'Reads the file as follow bulk does, and for each follower whom it follows now. Sends nothing. With --undo-file it writes the entries\n' +
    'that undo exactly what would change, for follow bulk --file. A follow is of a whole profile with all its wallets.',
  params: {
    file: local(z.string().min(1), 'JSON array or NDJSON of entries, or - for stdin'),
    undoFile: option.text('write the entries that undo the changes here; must not exist'),
  },
  examples: [{ argv: 'follow plan --file follows.ndjson --undo-file undo.ndjson', says: 'before follow bulk' }],
  uses: ['requests'],
  exitCodes: [3, ...serviceExitCodes],
  view: async () => view,
  run: planFollows,
});

async function planFollows(
  { file, undoFile }: { file: string; undoFile?: string | undefined },
  context: Context,
): Promise<Result> {
  if (undoFile !== undefined) checkUndoFile(undoFile);
  const content = await openTwice(file, context, `--file ${file}`);
  const answer: PlannedTarget[] = [];
  const undo: BulkEntry[] = [];
  const { followedBy, profileOf } = readers(context);
  try {
    for await (const entries of readEntries(content.open()))
      for (const one of entries) {
        if ('problem' in one)
          throw usageError(`${file} ${one.unit} ${one.number}: ${one.problem}`, 'Correct the file.');
        const { addressOrUid: follower, targets, action = 'follow', targetType } = one.entry;
        const followed = await followedBy(follower);
        const changed: string[] = [];
        for (const target of targets) {
          const known = followed.find((profile) => isCalled(profile, target, targetType));
          const isSo = (known !== undefined) === (action === 'follow');
          const profile = known ?? (targetType === 'twitterHandle' ? undefined : await profileOf(target));
          const facts = { name: profile?.name ?? null, wallets: profile?.addresses?.length ?? null };
          answer.push({ line: one.number, follower, target, change: isSo ? 'nothing' : action, ...facts });
          if (isSo) continue;
          changed.push(target);
          // What a later line of the file meets.
          if (known !== undefined) followed.splice(followed.indexOf(known), 1);
          else if (profile !== undefined) followed.push(profile);
        }
        if (changed.length > 0) undo.unshift(reversed({ ...one.entry, targets: changed }));
      }
  } finally {
    content.remove();
  }
  const out = await openOutput('--undo-file', undoFile, [file]);
  await out?.appendFile(undo.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  await out?.close();
  return { kind: 'answer', answer, view };
}

/** Whom a follower follows, and the profile of a target; each is asked for once. */
function readers(context: Context) {
  const [lists, profiles] = [new Map<string, Profile[]>(), new Map<string, Profile | undefined>()];
  return {
    followedBy: async (follower: string): Promise<Profile[]> => {
      const key = normalizeAddress(follower);
      const followed = lists.get(key) ?? [];
      if (lists.has(key)) return followed;
      for await (const items of allItems(followsOf, { identifier: follower }, context))
        followed.push(...(items as Profile[]));
      lists.set(key, followed);
      return followed;
    },
    profileOf: async (target: string): Promise<Profile | undefined> => {
      if (!profiles.has(target)) {
        const answer = await orUndefined(context.call(getProfile, { identifier: target }), 'not-found');
        profiles.set(target, answer?.data);
      }
      return profiles.get(target);
    },
  };
}

function isCalled(profile: Profile, target: string, type: BulkEntry['targetType']): boolean {
  const { twitterHandle } = profile.metadata;
  if (type === 'twitterHandle') return twitterHandle?.toLowerCase() === target.replace('@', '').toLowerCase();
  return namesOf(profile).includes(normalizeAddress(target));
}

export const commands: readonly Command[] = [plan];
