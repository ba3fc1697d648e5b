import { type InputOf, local } from '../../api/endpoint.ts';
import { fitting } from '../../api/formats.ts';
import { formatted, listOf, openChoice, optional, text } from '../../api/kind.ts';
import { option } from '../params.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const methodKind = openChoice(
  methods,
  fitting((typed) => methods.some((method) => method === typed.toUpperCase()), `must be one of ${methods.join(', ')}`),
);

const pair = formatted(fitting((typed) => typed.indexOf('=') > 0, 'must be name=value, such as limit=10'));

export const requestParams = {
  method: local(methodKind, 'HTTP method', { positional: true }),
  path: local(text(), 'path with or without a query, such as /v2/leaderboard', { positional: true }),
  query: local(optional(listOf(pair)), 'query parameter, name=value', {
    short: 'q',
    noCommaSplit: true,
    valueName: 'name=value',
  }),
  data: option.text('JSON body: the text itself, @file, or - for stdin', { short: 'd', valueName: 'json' }),
  paginate: option.flag('request all following pages too'),
};

export type RequestInput = InputOf<typeof requestParams>;
