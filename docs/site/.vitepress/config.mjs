import { readdirSync } from 'node:fs';
import { defineConfig } from 'vitepress';

const nouns = readdirSync(new URL('../pages/commands', import.meta.url))
  .map((name) => name.replace('.md', ''))
  .filter((name) => name !== 'global-flags');

const link = (text, to) => ({ text, link: `/${to}` });

export default defineConfig({
  title: 'sotra',
  description: 'Command line, library and sandbox for the Social Trading Data Service',
  lang: 'en',
  srcDir: 'pages',
  base: process.env.SOTRA_SITE_BASE ?? '/',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  // Pages that nobody opened are not loaded.
  router: { prefetchLinks: false },
  // What looks like an address in a text is no link.
  markdown: { linkify: false, theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' } },
  vite: { build: { reportCompressedSize: false } },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [link('Recipes', 'recipes'), link('Commands', 'commands'), link('Changelog', 'changelog')],
    sidebar: [
      {
        text: 'Start',
        items: [link('The first minute', ''), link('Installing', 'install'), link('Recipes by job', 'recipes')],
      },
      {
        text: 'Guides',
        items: [
          link('Webhooks', 'webhooks'),
          link('Signing comments', 'signing'),
          link('Scripts and CI', 'scripts'),
          link('From code', 'library'),
          link('Agents', 'agents'),
          link('The sandbox', 'sandbox'),
          link('Several machines', 'scaling'),
        ],
      },
      {
        text: 'Reference',
        items: [
          {
            ...link('Every command', 'commands'),
            collapsed: true,
            items: nouns.map((noun) => link(noun, `commands/${noun}`)),
          },
          link('Global flags', 'commands/global-flags'),
          link('Exit codes and errors', 'errors'),
          link('Help topics', 'topics'),
          {
            ...link('Types of the library', 'types/client'),
            collapsed: true,
            items: [link('Inputs and answers', 'types/inputs'), link('Webhooks, signing, others', 'types/others')],
          },
          link('The wire', 'wire'),
        ],
      },
      {
        text: 'Promises',
        items: [link('What stays the same', 'stability'), link('Security', 'security'), link('Changelog', 'changelog')],
      },
    ],
  },
});
