import type { Endpoint, Param } from '../api/endpoint.ts';
import { endpoints } from '../api/endpoints.ts';

/** The parts of an endpoint that are needed to send its request and read its pages. */
export type TableRow = Pick<Endpoint, 'id' | 'method' | 'path' | 'params' | 'keyless' | 'paging'>;

/**
 * The endpoints without what only people and checks read: help, examples, rules of values, schemas of answers. The build of the library puts
 * its value here instead of the code, so it must be JSON.
 */
export const endpointTable: readonly TableRow[] = endpoints.map(({ id, method, path, params, keyless, paging }) => {
  const rows = Object.entries<Param>(params).map(([key, param]) => [key, describeParam(param)]);
  return { id, method, path, params: Object.fromEntries(rows), ...(keyless && { keyless }), ...(paging && { paging }) };
});

function describeParam({ location, wire, source, kind }: Param) {
  const { type, optional } = kind;
  const sent = type === 'list' ? { type, keepFirst: kind.keepFirst } : {};
  return { location, source, kind: { ...sent, optional }, ...(wire && { wire }) };
}
