import { normalizeAddress } from '../../model/address.ts';
import { isIdentifier } from '../../model/identifier.ts';
import { isObject } from '../../model/json.ts';

const actions = ['follow', 'unfollow'] as const;
const targetTypes = ['addressOrUid', 'twitterHandle'] as const;

/** One item of a bulk request: a follower and whom it follows or unfollows. Source: wire-facts 3.10. */
export interface BulkEntry {
  addressOrUid: string;
  targets: readonly string[];
  /** How targets are read; the service takes `addressOrUid` when it is left out. */
  targetType?: (typeof targetTypes)[number];
  /** The service takes `follow` when it is left out. */
  action?: (typeof actions)[number];
}

/** The body of a bulk request as JSON Schema. */
export const bulkJsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['addressOrUid', 'targets'],
    properties: {
      addressOrUid: { type: 'string' },
      targets: { type: 'array', items: { type: 'string' }, minItems: 1 },
      targetType: { type: 'string', enum: [...targetTypes], default: 'addressOrUid' },
      action: { type: 'string', enum: [...actions], default: 'follow' },
    },
  },
} as const;

const identifierRule = 'must be a profile UUID, a wallet address or ext:<your user id>';

/** What is wrong with a value as an entry, naming field and value; `undefined` where nothing is. */
function entryProblem(value: unknown): string | undefined {
  if (!isObject(value)) return 'must be a JSON object';
  const { addressOrUid, targets, targetType, action } = value;
  if (typeof addressOrUid !== 'string' || !isIdentifier(addressOrUid))
    return problem('addressOrUid', addressOrUid, identifierRule);
  if (targetType !== undefined && !isOneOf(targetTypes, targetType))
    return problem('targetType', targetType, `must be one of ${targetTypes.join(', ')}`);
  if (action !== undefined && !isOneOf(actions, action))
    return problem('action', action, `must be one of ${actions.join(', ')}`);
  if (!Array.isArray(targets) || targets.length === 0)
    return problem('targets', targets, 'must be an array of at least one target');
  const [fits, rule] =
    targetType === 'twitterHandle' ? [isTwitterHandle, handleRule] : [isIdentifierText, identifierRule];
  const wrong = targets.findIndex((target) => !fits(target));
  return wrong === -1 ? undefined : problem(`targets[${wrong}]`, targets[wrong], rule);
}

/** What is wrong with a whole bulk body: the first entry that is not one, by its place. */
export function bulkProblem(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'must be an array of {addressOrUid, targets}';
  const problems = value.map(entryProblem);
  const wrong = problems.findIndex((text) => text !== undefined);
  return wrong === -1 ? undefined : `[${wrong}].${problems[wrong]}`;
}

const knownFields = ['addressOrUid', 'targets', 'targetType', 'action'];

/**
 * What is wrong with an entry that a person wrote: as `entryProblem`, and a field that nobody reads (a misspelled `action` would
 * follow instead of unfollow), and a follower among its own targets.
 */
export function writtenProblem(value: unknown): string | undefined {
  const plain = entryProblem(value);
  if (plain !== undefined) return plain;
  const entry = value as BulkEntry;
  const unknown = Object.keys(entry).find((key) => !knownFields.includes(key));
  if (unknown !== undefined) return `${unknown}: no such field; there are ${knownFields.join(', ')}`;
  const { addressOrUid, targets, targetType, action } = entry;
  if (action === 'unfollow' || targetType === 'twitterHandle') return undefined;
  const self = selfAmong(addressOrUid, targets);
  return self === undefined
    ? undefined
    : `targets[${self}] ${JSON.stringify(targets[self])}: nobody can follow themselves`;
}

/** Place of the target that is the follower itself, whatever the case of EVM addresses; `undefined` where none is. */
export function selfAmong(follower: string, targets: readonly string[]): number | undefined {
  const place = targets.findIndex((target) => normalizeAddress(target) === normalizeAddress(follower));
  return place === -1 ? undefined : place;
}

/** The entry that takes an entry back. */
export function reversed(entry: BulkEntry): BulkEntry {
  return { ...entry, action: entry.action === 'unfollow' ? 'follow' : 'unfollow' };
}

const handleRule = 'must be a Twitter handle: 1 to 15 letters, digits or underscores';

function isTwitterHandle(value: unknown): boolean {
  return typeof value === 'string' && /^@?\w{1,15}$/.test(value);
}

function isIdentifierText(value: unknown): boolean {
  return typeof value === 'string' && isIdentifier(value);
}

function isOneOf(choices: readonly string[], value: unknown): boolean {
  return typeof value === 'string' && choices.includes(value);
}

function problem(field: string, value: unknown, rule: string): string {
  return value === undefined
    ? `${field} is required: ${rule}`
    : `${field} ${JSON.stringify(value)?.slice(0, 80)}: ${rule}`;
}
