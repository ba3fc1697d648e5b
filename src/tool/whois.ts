import { z } from 'zod';
import { type Command, defineCommand, type Result } from '../cli/command.ts';
import { serviceExitCodes } from '../cli/endpoint-command.ts';
import { standsFor } from '../cli/input.ts';
import type { Context } from '../context.ts';
import { local } from '../contract/endpoint.ts';
import { usageError } from '../errors.ts';
import { namesKnownTo } from '../log/known-addresses.ts';
import {
  isEvmAddress,
  isExternalId,
  isHashOrKey,
  isSolanaAddress,
  isUuid,
  normalizeAddress,
} from '../model/address.ts';
import { identifierSchema } from '../model/identifier.ts';
import type { Profile } from '../model/profile.ts';
import { column } from '../output/columns.ts';
import { withoutFlagged } from '../output/flagged.ts';
import { formatCount, formatUsd } from '../output/format.ts';
import type { View } from '../output/view.ts';
import { get as getProfile } from '../resources/profile/endpoints.ts';

interface Fact {
  fact: string;
  value: string;
  from: string;
}

interface Whois {
  typed: string;
  identifier: string;
  facts: Fact[];
}

const view: View<Whois, Fact> = {
  layout: 'table',
  rows: ({ facts }) => facts,
  columns: [
    column.text('fact', 'What', 'what is known'),
    column.text('value', 'Value', 'its value', { cut: 'middle' }),
    column.text('from', 'From', 'where it was found: typed, settings or service'),
  ],
};

const whoisCommand: Command = defineCommand({
  words: ['whois'],
  summary: 'Who is behind an address, profile id, ext: id or alias',
  description:
    'Every fact says where it comes from: the text itself, your settings, or the profile that the service returns.',
  params: {
    who: local(
      z.string().min(1),
      'address, profile UUID, ext:<your user id>, @alias, or a name or rank (#3) of the last tables',
      { positional: true },
    ),
    viewer: local(identifierSchema.optional(), 'also say whether this wallet or profile follows it'),
  },
  examples: [
    { argv: '--sandbox whois 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2', says: 'whose wallet this is' },
    { argv: '--sandbox whois ext:42 --json', says: 'the profile of one of your users, as JSON' },
  ],
  uses: ['requests'],
  exitCodes: [3, ...serviceExitCodes],
  view: async () => view,
  run: whois,
});

async function whois({ who, viewer }: { who: string; viewer?: string | undefined }, context: Context): Promise<Result> {
  const known = await namesKnownTo(context);
  const identifier = await standsFor({ label: '<who>', identifier: true }, who, known);
  const kind = kindOf(identifier);
  const { data } = await context.call(getProfile, {
    identifier,
    ...(viewer && { viewerAddresses: [viewer] }),
  });
  const profile = context.options.showNsfw ? data : withoutFlagged(data);
  const answer: Whois = {
    typed: who,
    identifier,
    facts: [
      ...(who === identifier ? [] : [{ fact: 'stands for', value: identifier, from: 'settings' }]),
      { fact: 'is', value: kind, from: 'typed' },
      ...savedNames(profile as Profile, identifier, known.aliases),
      ...serviceFacts(profile as Profile),
      ...(viewer === undefined ? [] : [followFact(profile as Profile, viewer)]),
    ],
  };
  return { kind: 'answer', answer, view };
}

function kindOf(text: string): string {
  if (isUuid(text)) return 'profile id (UUID)';
  if (isEvmAddress(text)) return 'EVM address';
  if (isSolanaAddress(text)) return 'Solana address';
  if (isExternalId(text)) return 'external id of your own';
  // What may be somebody's private key is never repeated in full.
  const shown = isHashOrKey(text) ? `${text.slice(0, 6)}...` : text;
  throw usageError(`<who> ${shown}: ${whyUnknown(text)}`, hintFor(text));
}

function whyUnknown(text: string): string {
  if (isHashOrKey(text)) return '64 digits are a transaction hash, not a wallet or profile';
  if (/^0x[0-9a-fA-F]*$/.test(text)) return `an EVM address has 40 digits after 0x, this has ${text.length - 2}`;
  return 'neither an address, a profile UUID, an ext: id nor an @alias';
}

function hintFor(text: string): string | undefined {
  if (isHashOrKey(text)) return 'For the comments of a transaction: sotra comment list <hash> --chain <chain>.';
  if (/^(?!0x)[A-Za-z0-9][\w.-]{0,31}$/.test(text)) return `An alias is typed with its @: sotra whois @${text}.`;
  return undefined;
}

function savedNames(profile: Profile, identifier: string, aliases: Readonly<Record<string, string>>): Fact[] {
  const own = new Set([identifier, profile.id, ...(profile.addresses ?? [])].map(normalizeAddress));
  return Object.entries(aliases)
    .filter(([, stands]) => own.has(normalizeAddress(stands)))
    .map(([name]) => ({ fact: 'alias', value: `@${name}`, from: 'settings' }));
}

const handles = [
  ['twitterHandle', 'X (Twitter)'],
  ['farcasterUsername', 'Farcaster'],
  ['lensHandle', 'Lens'],
  ['ensName', 'ENS'],
  ['debankName', 'DeBank'],
  ['hlName', 'Hyperliquid name'],
] as const;

function followFact({ isFollowedByUser }: Profile, viewer: string): Fact {
  const value = isFollowedByUser === undefined ? 'not told' : isFollowedByUser ? 'yes' : 'no';
  return { fact: `followed by ${viewer}`, value, from: 'service' };
}

function serviceFacts({ name, id, status, externalId, addresses, metadata, metrics }: Profile): Fact[] {
  const facts: [string, string | null | undefined][] = [
    ['name', name],
    ['profile id', id],
    ['tracking', status],
    ['external id', externalId],
    ...(addresses ?? []).map((address): [string, string] => ['wallet', address]),
    ['PnL 7 days', figure(metadata?.pnl7d)],
    ['PnL 30 days', figure(metadata?.pnl30d)],
    ['followers', count(metrics?.thisPartner?.followerCount)],
    ['follows', count(metrics?.thisPartner?.followingCount)],
    ...handles.map(([key, label]): [string, string | null | undefined] => [label, metadata?.[key]]),
  ];
  return facts.flatMap(([fact, value]) => (value ? [{ fact, value, from: 'service' }] : []));
}

function figure(usd: number | null | undefined): string | undefined {
  return typeof usd === 'number' ? formatUsd(usd, { signed: true }) : undefined;
}

function count(number: number | null | undefined): string | undefined {
  return typeof number === 'number' ? formatCount(number) : undefined;
}

export const commands: readonly Command[] = [whoisCommand];
