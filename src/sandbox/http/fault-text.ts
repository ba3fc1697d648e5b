import { parseDuration } from '../../model/duration.ts';

/** What goes wrong, when, and for which requests. */
export interface Fault {
  does: { kind: 'status'; status: number } | { kind: 'delay'; ms: number } | { kind: 'drop' | 'truncate' | 'garbage' };
  when: { kind: 'every' | 'first'; count: number } | { kind: 'p'; share: number };
  method: string;
  path: RegExp;
  text: string;
}

/** The form of `--fault`, for messages. */
export const faultForm =
  'must be <status|drop|delay=2s|truncate|garbage>:<every=3|p=0.1|first=2>:<METHOD path-glob>, ' +
  "such as '503:every=3:PUT /v1/webhooks/**'";

/**
 * Reads one `--fault`; `undefined` where the text is none. A `*` of the path stands for one segment, `**` for any rest; the
 * method `*` is any.
 */
export function parseFault(text: string): Fault | undefined {
  const [, doing = '', timing = '', method = '', glob = ''] = /^([^:]+):([^:]+):(\S+) +(\/\S*|\*\*?)$/.exec(text) ?? [];
  const does = readDoes(doing);
  const when = readWhen(timing);
  if (does === undefined || when === undefined || !/^([A-Z]+|\*)$/.test(method)) return undefined;
  return { does, when, method, path: globPattern(glob), text };
}

function readDoes(text: string): Fault['does'] | undefined {
  if (/^[45]\d\d$/.test(text)) return { kind: 'status', status: Number(text) };
  if (text === 'drop' || text === 'truncate' || text === 'garbage') return { kind: text };
  const ms = text.startsWith('delay=') ? parseDuration(text.slice('delay='.length)) : undefined;
  return ms === undefined ? undefined : { kind: 'delay', ms };
}

function readWhen(text: string): Fault['when'] | undefined {
  const [kind, value = ''] = text.split('=');
  if ((kind === 'every' || kind === 'first') && /^[1-9]\d{0,8}$/.test(value)) return { kind, count: Number(value) };
  const share = /^(0|1|0?\.\d+|1\.0+)$/.test(value) ? Number(value) : undefined;
  return kind === 'p' && share !== undefined ? { kind, share } : undefined;
}

function globPattern(glob: string): RegExp {
  const parts = glob.split(/(\*\*|\*)/).map((part) => {
    if (part === '**') return '.*';
    return part === '*' ? (glob === '*' ? '.*' : '[^/]*') : part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`);
}
