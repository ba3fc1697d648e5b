import { usageError } from '../errors.ts';
import { type Endpoint, type Param, type WireNames, wireName } from './endpoint.ts';

/** A parameter whose wire name is not from the interface document, so that a deployment may call it otherwise. */
export interface OpenName {
  /** What a `wire` map calls it: `leaderboard.list.limit`. */
  id: string;
  key: string;
  param: Param;
}

/** The parameters of an endpoint that a `wire` map can rename: query and body, not from the interface document. */
export function openNames(endpoint: Endpoint): OpenName[] {
  return Object.entries(endpoint.params)
    .filter(([, param]) => travels(param) && param.source !== 'spec')
    .map(([key, param]) => ({ id: `${endpoint.id}.${key}`, key, param }));
}

/**
 * Refuses a `wire` map that could not do what it says. `label` is where it was typed, such as `--wire`. Errors: `usage` naming the entry
 * for an unknown endpoint or parameter, one whose name is from the interface document, an empty name, and two parameters of one
 * request under one name.
 */
export function checkWireNames(wire: WireNames, endpoints: readonly Endpoint[], label: string): void {
  for (const [entry, name] of Object.entries(wire)) {
    if (!/^[\w.[\]-]+$/.test(name))
      throw usageError(`${label} ${entry}: ${JSON.stringify(name)} is not a name (letters, digits, and . _ - [ ])`);
    checkEntry(entry, endpoints, label);
  }
  for (const endpoint of endpoints) checkCollisions(endpoint, wire, label);
}

function travels({ place }: Param): boolean {
  return place === 'query' || place === 'body';
}

function checkEntry(entry: string, endpoints: readonly Endpoint[], label: string): void {
  const dot = entry.lastIndexOf('.');
  const [scope, key] = [entry.slice(0, Math.max(dot, 0)), entry.slice(dot + 1)];
  const inScope = scope === '*' ? endpoints : endpoints.filter((endpoint) => endpoint.id === scope);
  if (inScope.length === 0)
    throw usageError(
      `${label} ${entry}: no endpoint is called ${scope === '' ? entry : scope}`,
      'An entry is <noun>.<verb>.<parameter>, such as leaderboard.list.limit, or *.<parameter> for all endpoints.',
    );
  const open = inScope.flatMap(openNames);
  if (open.some((one) => one.key === key)) return;
  const known = [...new Set(open.map((one) => one.key))].join(', ');
  const where = scope === '*' ? 'any endpoint' : scope;
  const exists = inScope.some((endpoint) => Object.hasOwn(endpoint.params, key));
  throw usageError(
    exists
      ? `${label} ${entry}: this name is given by the interface document (or never sent) and cannot change`
      : `${label} ${entry}: no parameter of ${where} is called ${key}`,
    known === '' ? `${scope} has no names that can change.` : `Names that can change here: ${known}.`,
  );
}

function checkCollisions(endpoint: Endpoint, wire: WireNames, label: string): void {
  const taken = new Map<string, string>();
  for (const [key, param] of Object.entries(endpoint.params)) {
    if (!travels(param)) continue;
    const name = wireName(endpoint, key, param, wire);
    const place = `${param.place} ${name}`;
    const other = taken.get(place);
    if (other !== undefined)
      throw usageError(
        `${label}: ${endpoint.id} would send ${other} and ${key} under one name, ${name}`,
        `Give one of them another name, or name the endpoint: ${endpoint.id}.${key}.`,
      );
    taken.set(place, key);
  }
}
