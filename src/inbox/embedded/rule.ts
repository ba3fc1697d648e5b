import type { Target } from '../inbox.ts';

const separator = ' where ';

/** What a target is sent, as `target.event_type` holds it: nothing for all, a type, `type where conditions` or ` where conditions`. */
export function ruleOf({ eventType = '', where }: Omit<Target, 'url'>): string {
  return where === undefined ? eventType : eventType + separator + where;
}

export function readRule(rule: string): Omit<Target, 'url'> {
  const at = rule.indexOf(separator);
  const eventType = at === -1 ? rule : rule.slice(0, at);
  return { ...(eventType !== '' && { eventType }), ...(at !== -1 && { where: rule.slice(at + separator.length) }) };
}

/** In SQL, of a target `t`: whether its rule has conditions, and the type in it. */
export const hasConditions = `instr(t.event_type, '${separator}') > 0`;
export const ruleType = `substr(t.event_type, 1, instr(t.event_type || '${separator}', '${separator}') - 1)`;
