const loadWebhookViews = () => import('./view.ts');

/** Apart from the commands: those that receive deliveries serve a page that shows these. */
export const views = {
  register: async () => (await import('../../upload/view.ts')).uploaded,
  list: async () => (await loadWebhookViews()).list,
  addAddresses: async () => (await import('../../upload/view.ts')).uploaded,
  remove: async () => (await loadWebhookViews()).deleted,
  validate: async () => (await loadWebhookViews()).validated,
};
