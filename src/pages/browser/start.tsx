import { type ComponentChildren, render } from 'preact';
import { signIn } from './page-api.ts';

/** Draws a page once it is signed in, or shows why it cannot. */
export function mountPage(page: ComponentChildren): void {
  const root = document.getElementById('app');
  if (root === null) return;
  signIn().then(
    () => render(page, root),
    (thrown: Error) =>
      render(
        <main class="refused">
          <h1>sotra</h1>
          <p role="alert">{thrown.message}</p>
        </main>,
        root,
      ),
  );
}
