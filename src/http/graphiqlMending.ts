/**
 * What the page adds to GraphiQL, as a part of its head:
 * - The page fits phones too, and its own bars follow GraphiQL's theme, which is the system's unless somebody chose another one in the settings.
 * - Tabs stay where they are. GraphiQL's tabs can be dragged to another place, and each was moved as soon as it had the focus: it jumped away from
 *   under the pointer, and the click was lost.
 * - "Execute" waits until GraphiQL has read the editor, which it does 100 ms after a change: until then it executed the previous tab or text. The
 *   wait is a timer of its own, because a busy browser handles input before timers that are due.
 * - Ctrl-Enter executes wherever the focus is, and not only in the editors.
 */
export const graphiqlMending = `
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
  body {
    --session-height: 2.25rem; --page-ink: #334; --page-bar: #eef0f4; --page-panel: #fff; --page-alert: #a00;
    color-scheme: light; margin: 0; background: var(--page-bar);
  }
  @media (prefers-color-scheme: dark) {
    body:not(.graphiql-light) {
      --page-ink: #d4d8e4; --page-bar: #1a2030; --page-panel: #232a3c; --page-alert: #f99;
      color-scheme: dark;
    }
  }
  body.graphiql-dark {
    --page-ink: #d4d8e4; --page-bar: #1a2030; --page-panel: #232a3c; --page-alert: #f99;
    color-scheme: dark;
  }
  .graphiql-tab { transform: none !important; }
  #root, .graphiql-container { height: calc(100vh - var(--session-height)) !important; height: calc(100dvh - var(--session-height)) !important; }
  @media (max-width: 700px) {
    #graphiql-session { flex-direction: column; }
    #graphiql-session > .graphiql-horizontal-drag-bar, .graphiql-logo { display: none; }
  }
</style>
<script>
(() => {
  const readMillis = 150
  let changedAt = 0
  let isExecuting = false

  const within = (event, selector) => event.target instanceof Element ? event.target.closest(selector) : null
  const changed = () => { changedAt = performance.now() }

  function execute(button) {
    setTimeout(() => {
      isExecuting = true
      button.click()
      isExecuting = false
    }, Math.max(0, changedAt + readMillis - performance.now()))
  }

  addEventListener('pointerdown', (event) => {
    if (within(event, '.graphiql-tab')) event.stopPropagation()
  }, true)

  for (const type of ['input', 'paste', 'drop', 'keydown'])
    addEventListener(type, (event) => { if (within(event, '.graphiql-query-editor')) changed() }, true)

  addEventListener('click', (event) => {
    if (within(event, '.graphiql-tab')) changed()
    const button = within(event, '.graphiql-execute-button')
    if (button === null || isExecuting) return
    event.stopPropagation()
    execute(button)
  }, true)

  addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || within(event, 'dialog')) return
    const button = document.querySelector('.graphiql-execute-button')
    // Of several operations the editor executes the one at its cursor, and the button asks for one.
    if (button === null || button.hasAttribute('aria-haspopup')) return
    event.preventDefault()
    event.stopPropagation()
    execute(button)
  }, true)
})()
</script>
`
