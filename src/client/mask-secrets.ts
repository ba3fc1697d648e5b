import { isObject } from '../api/json.ts';
import { hidden } from './url-secrets.ts';

/** The value with each text masked that is a secret by its form or by its field. */
export function maskSecrets(value: unknown, field = ''): unknown {
  if (typeof value === 'string')
    return value !== '' && (/secret/i.test(field) || value.startsWith('whsec_')) ? hidden : value;
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, field));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, maskSecrets(held, key)]));
}
