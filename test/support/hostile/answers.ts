import { run } from '../harness.ts';
import { serveSandbox } from '../served.ts';
import { naughty } from './corpus.ts';

/** One answer of the service, and the command that shows it. */
export interface Answer {
  argv: string;
  /** The key of its list; absent: it is the list. */
  key?: string;
  /** A column that holds a free text as it is, and one beside it that is the same in every row. */
  column: string;
  beside: string;
  value: unknown;
}

/** Keys whose texts are free: what people and other services wrote. */
const free = /^(\w*[nN]ame|\w*[sS]ymbol|commentText|itemTitle|\w*Handle|title|text|label|description|destinationUrl)$/;

/** The value with every free text replaced; with `all` every text that there is. */
export function withText(value: unknown, text: string, all: boolean, key = ''): unknown {
  if (typeof value === 'string') return all || free.test(key) ? text : value;
  if (Array.isArray(value)) return value.map((each) => withText(each, text, all, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withText(each, text, all, name)]));
}

/** The items of an answer. */
export function itemsOf({ value, key }: Answer): unknown[] {
  return (key === undefined ? value : (value as Record<string, unknown>)[key]) as unknown[];
}

/** The answer with an item for each text, alike but for its texts. */
export function hostile(answer: Answer, all = false, texts = naughty): unknown {
  const [item] = itemsOf(answer);
  const made = texts.map((text) => withText(item, text, all));
  return answer.key === undefined ? made : { ...(answer.value as object), [answer.key]: made };
}

const trader = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
const position = '6527ff56-9ac0-5c42-812c-d84aa9a0cf53';

/** Answers of the lists that show texts of others, and of two records, as the sandbox gives them. */
export async function realAnswers(): Promise<{ lists: Answer[]; records: { argv: string; value: unknown }[] }> {
  const { envA: env } = await serveSandbox();
  const get = async (argv: string) => JSON.parse((await run(`${argv} --json --quiet`, { env })).out);
  const lists: Omit<Answer, 'value'>[] = [
    { argv: 'leaderboard list', key: 'traders', column: 'name', beside: 'address' },
    { argv: 'leaderboard copytraded', key: 'traders', column: 'name', beside: 'address' },
    { argv: `profile followers ${trader}`, key: 'items', column: 'name', beside: 'address' },
    { argv: `profile positions ${trader} open`, column: 'token', beside: 'chain' },
    { argv: `feed actor ${trader}`, key: 'items', column: 'token', beside: 'chain' },
  ];
  const webhook = { uid: 'u-1', destinationUrl: 'https://a.example.com/hook' };
  const fill = async (list: (typeof lists)[number]): Promise<Answer> => ({ ...list, value: await get(list.argv) });
  const filled = await Promise.all(lists.map(fill));
  const records = [`profile get ${trader}`, `position get ${position}`];
  return {
    lists: [...filled, { argv: 'webhook list', column: 'destinationUrl', beside: 'uid', value: [webhook] }],
    records: await Promise.all(records.map(async (argv) => ({ argv, value: await get(argv) }))),
  };
}
