import type { z } from 'zod';
import { type Endpoint, type WireNames, wireName } from '../api/endpoint.ts';
import { isUnknownValue, listIssues } from '../api/mismatch.ts';
import { nearest } from '../api/nearest.ts';
import { decodeRequest, type RequestParts } from '../api/request.ts';

/** Where an answer does not match the interface; `count`: in how many items of lists. */
export interface Difference {
  at: string;
  expected: string;
  found: string;
  count: number;
}

/** A parameter without effect; `meant`: the known name that is nearest, if one is near. */
export interface IgnoredName {
  name: string;
  meant: string | null;
}

/** A call to an endpoint, with the names that its deployment uses. */
export interface MatchedCall {
  endpoint: Endpoint;
  parts: RequestParts;
  wire: WireNames;
  /** The JSON of the answer; absent if there is none, or not all of it. */
  data: unknown;
}

const maxDifferences = 20;

/** Where an answer does not match the interface, the same field of many items once. */
export async function findDifferences({ endpoint, data }: MatchedCall): Promise<Difference[]> {
  if (data === undefined) return [];
  const schema = (await endpoint.answer()) as z.ZodType;
  const found = new Map<string, Difference>();
  for (const { path, issue } of listIssues(schema, data)) {
    if (isUnknownValue(issue)) continue;
    const place = path.map((part) => (typeof part === 'number' ? '[]' : `.${String(part)}`)).join('');
    const at = place.replace(/^\./, '') || 'the answer';
    const expected = 'expected' in issue ? String(issue.expected) : issue.message;
    const known = found.get(`${at} ${expected}`);
    if (known !== undefined) known.count += 1;
    else if (found.size < maxDifferences)
      found.set(`${at} ${expected}`, { at, expected, found: describeValue(pickValue(data, path)), count: 1 });
  }
  return [...found.values()];
}

/** Parameters without effect: named by the service, or unknown to the interface. */
export function findIgnored(named: readonly string[], call: MatchedCall | undefined): IgnoredName[] {
  if (call === undefined) return named.map((name) => ({ name, meant: null }));
  const { endpoint, parts, wire } = call;
  const decoded = decodeRequest(endpoint, parts, wire, ['all']);
  const names = new Set([...named, ...(decoded.ok ? decoded.ignored : [])]);
  const known = Object.entries(endpoint.params)
    .filter(([, { location }]) => location === 'query' || location === 'body')
    .map(([key, param]) => wireName(endpoint, key, param, wire));
  return [...names].map((name) => ({ name, meant: nearest(name.split('=')[0] ?? '', known) ?? null }));
}

function pickValue(data: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key], data);
}

function describeValue(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  const type = Array.isArray(value) ? 'a list' : typeof value;
  return typeof value === 'object' ? type : `${type} ${JSON.stringify(value)?.slice(0, 60)}`;
}
