import type { Endpoint } from '../api/endpoint.ts';

/** Where the method of an endpoint stands in a client: `webhook.add-addresses` is `client.webhook.addAddresses`. */
export function methodName({ id }: Pick<Endpoint, 'id'>): [noun: string, verb: string] {
  const [noun = '', verb = ''] = id.split('.');
  return [noun, verb.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
}
