/** Clients with the key that holds servers in their settings. Source: the documentation of each. */
const clients = [
  {
    names: 'Claude Desktop (claude_desktop_config.json), Claude Code (.mcp.json), Cursor (~/.cursor/mcp.json)',
    key: 'mcpServers',
    type: {},
  },
  { names: 'VS Code (.vscode/mcp.json)', key: 'servers', type: { type: 'stdio' } },
];

interface ClientEntry {
  clients: string;
  /** What to paste. */
  settings: Record<string, { sotra: { type?: string; command: string; args: readonly string[] } }>;
}

/** The entries of a server that is started with these arguments. The API key is in none: it is stored, or in the environment. */
export function clientEntries(args: readonly string[]): ClientEntry[] {
  return clients.map(({ names, key, type }) => ({
    clients: names,
    settings: { [key]: { sotra: { ...type, command: 'sotra', args } } },
  }));
}

export function describeEntries(entries: readonly ClientEntry[]): string {
  return entries.map((entry) => `${entry.clients}:\n${JSON.stringify(entry.settings, null, 2)}\n`).join('\n');
}
