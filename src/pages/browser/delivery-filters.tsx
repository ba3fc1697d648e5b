import { Choice } from './text.tsx';

/** What restricts the list; empty texts restrict nothing. */
export interface Filters {
  text: string;
  type: string;
  webhook: string;
  wallet: string;
  token: string;
  status: string;
}

export const noFilters: Filters = { text: '', type: '', webhook: '', wallet: '', token: '', status: '' };

interface FilterBarProps {
  filters: Filters;
  types: readonly string[];
  webhooks: readonly string[];
  onChange: (filters: Filters) => void;
}

export function FilterBar({ filters, types, webhooks, onChange }: FilterBarProps) {
  const set = (key: keyof Filters) => (value: string) => onChange({ ...filters, [key]: value });
  const written = [
    ['text', 'Text', 'id, path, words'],
    ['wallet', 'Wallet', '0x…, Solana, ext:…'],
    ['token', 'Token', '0x… or Solana'],
  ] as const;
  const chosen = [
    ['type', 'Type', types],
    ['webhook', 'Webhook', webhooks],
    ['status', 'Status', ['forwarded', 'waiting', 'refused']],
  ] as const;
  return (
    <search class="filters" aria-label="Filters">
      {written.map(([key, label, hint]) => (
        <label key={key}>
          {label}
          <input
            type="search"
            placeholder={hint}
            value={filters[key]}
            onInput={(event) => set(key)(event.currentTarget.value)}
          />
        </label>
      ))}
      {chosen.map(([key, label, values]) => (
        <Choice key={key} label={label} value={filters[key]} options={[['', 'any'], ...values]} onChange={set(key)} />
      ))}
    </search>
  );
}
