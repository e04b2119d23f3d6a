/**
 * GraphiQL's sign-in, as the head of its page. The token stays in the browser's session storage, which ends with the tab. No request for
 * the API leaves the page without one, and the page asks for another one when the server no longer knows it.
 */
export const graphiqlSignIn = `
<style>
  #session {
    height: var(--session-height); box-sizing: border-box; padding: 0 .75rem; display: flex; align-items: center; gap: .75rem;
    justify-content: flex-end; font: .8125rem system-ui, sans-serif; white-space: nowrap; color: var(--page-ink); background: var(--page-bar);
  }
  #viewer { overflow: hidden; text-overflow: ellipsis; }
  #session button, #sign-in button { font: inherit; padding: .2rem .7rem; cursor: pointer; }
  #sign-in {
    font: .9375rem/1.45 system-ui, sans-serif; box-sizing: border-box; width: 29rem; max-width: calc(100vw - 2rem); padding: 1.5rem;
    border: 0; border-radius: .5rem; color: var(--page-ink); background: var(--page-panel);
  }
  #sign-in::backdrop { background: #223a; }
  #sign-in h1 { font-size: 1.125rem; margin: 0 0 .75rem; }
  #sign-in label { display: block; font-weight: 600; }
  #sign-in input { display: block; width: 100%; box-sizing: border-box; margin-top: .25rem; padding: .4rem; font: inherit; }
  #sign-in [role=alert] { color: var(--page-alert); min-height: 1.45em; }
</style>
<div id="session"><span id="viewer">Not signed in</span><button id="sign-out" hidden>Sign out</button></div>
<dialog id="sign-in">
  <form>
    <h1>Sign in to XCE Services</h1>
    <label>Token <input id="token" type="password" autocomplete="off" spellcheck="false" required></label>
    <p>It is kept for this browser session only. The server's first start wrote one to <code>admin-token</code> in its data directory.</p>
    <p role="alert"></p>
    <button>Sign in</button>
  </form>
</dialog>
<script>
(() => {
  const key = 'xce-services-token'
  const send = window.fetch.bind(window)
  const find = (selector) => document.querySelector(selector)
  let signingIn = null

  async function viewerOf(token) {
    const response = await send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ' + token },
      body: JSON.stringify({ query: 'query SignIn { viewer { subject roles } }' }),
    })
    if (response.status === 401) return null
    const { data, errors } = await response.json()
    if (errors) throw new Error(errors[0].message)
    return data.viewer
  }

  function show({ subject, roles }) {
    find('#viewer').textContent = 'Signed in as ' + subject + ' (' + roles.join(', ') + ')'
    find('#sign-out').hidden = false
  }

  // The editor gets the focus, so that one can type and Ctrl-Enter executes. It comes a moment after the page.
  function focusEditor() {
    const input = find('.graphiql-query-editor :is(textarea, .native-edit-context)')
    if (input === null) requestAnimationFrame(focusEditor)
    else input.focus()
  }

  // All requests that wait for a token wait for the same dialog.
  function signIn(reason) {
    signingIn ??= new Promise((resolve) => {
      const dialog = find('#sign-in')
      const alert = find('#sign-in [role=alert]')
      alert.textContent = reason
      dialog.oncancel = (event) => event.preventDefault()
      find('#sign-in form').onsubmit = async (event) => {
        event.preventDefault()
        const token = find('#token').value.trim()
        try {
          const viewer = await viewerOf(token)
          if (viewer === null) {
            alert.textContent = 'The server does not know this token.'
            return
          }
          sessionStorage.setItem(key, token)
          show(viewer)
        } catch (error) {
          alert.textContent = 'The server did not answer: ' + error.message
          return
        }
        find('#token').value = ''
        signingIn = null
        dialog.close()
        focusEditor()
        resolve()
      }
      dialog.showModal()
    })
    return signingIn
  }

  window.fetch = async (input, init) => {
    const url = new URL(typeof input === 'string' ? input : (input.url ?? input.href), location.href)
    if (url.origin !== location.origin || url.pathname !== '/graphql') return send(input, init)
    for (;;) {
      const token = sessionStorage.getItem(key)
      if (token === null) {
        await signIn('')
        continue
      }
      const headers = new Headers(init?.headers)
      headers.set('authorization', 'Bearer ' + token)
      const response = await send(input, { ...init, headers })
      if (response.status !== 401) return response
      if (sessionStorage.getItem(key) === token) sessionStorage.removeItem(key)
      await signIn('The server no longer knows the token: sign in again.')
    }
  }

  // What runs, subscriptions too, ends with the page.
  find('#sign-out').onclick = () => {
    sessionStorage.removeItem(key)
    location.reload()
  }

  const kept = sessionStorage.getItem(key)
  if (kept !== null) viewerOf(kept).then((viewer) => viewer && show(viewer), () => undefined)
})()
</script>
`
