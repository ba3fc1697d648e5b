import type { Param } from '../contract/endpoint.ts';
import type { Kind } from '../contract/kind.ts';
import { kindOf } from '../contract/kind-of.ts';
import type { Command } from './command.ts';
import type { Field, Outline } from './outline.ts';

/** A command as plain data: its fields in the order of its params, its columns in the order of its table. Throws what loading the view throws. */
export async function outlineOf(command: Command): Promise<Outline> {
  const { words, summary, description, endpoint, params, examples, exitCodes, uses, view, checkArgv } = command;
  const columns = (await view?.())?.columns ?? [];
  return {
    words,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(endpoint === undefined ? {} : { endpoint }),
    examples,
    exitCodes,
    uses,
    fields: Object.entries(params).map(([key, param]) => fieldOf(key, param)),
    columns: columns.map(({ key, help, extra }) => ({ key, help, ...(extra && { extra }) })),
    ...(checkArgv === undefined ? {} : { checksArgv: true }),
  };
}

function fieldOf(key: string, param: Param): Field {
  const kind = kindOf(param.schema);
  const flag = param.flag ?? kebabCase(key);
  const { positional, short, oldFlags, whole, serviceDefault, help } = param;
  const argument = kind.list ? `<${flag}...>` : `<${flag}>`;
  return {
    key,
    label: positional ? argument : `--${flag}`,
    flag,
    kind,
    help,
    source: param.place === 'local' ? 'local' : param.source,
    ...(positional && { positional }),
    ...(short === undefined ? {} : { short }),
    ...(oldFlags === undefined ? {} : { oldFlags }),
    ...(whole && { whole }),
    ...(param.takesAddress === 'token'
      ? { identifier: 'token' }
      : takesIdentifier(kind, param) && { identifier: true }),
    ...(serviceDefault === undefined ? {} : { serviceDefault }),
  };
}

/** `onlyWithComments` -> `only-with-comments`. */
function kebabCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

const anAddress = '0x0000000000000000000000000000000000000001';

function takesIdentifier(kind: Kind, param: Param): boolean {
  if (param.takesAddress === 'wallet') return true;
  if (kind.type !== 'text') return false;
  const takes = (text: string) => param.schema.safeParse(kind.list ? [text] : text).success;
  return takes(anAddress) && !takes('@name');
}
