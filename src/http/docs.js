// The script of the page /docs: Swagger UI for the document that the page names, in the colours of the console.

// Relative to the page, so that a client's page shows the calls of that client.
const documents = {
  service: 'openapi.json',
  strict: 'openapi.json?strict',
  admin: '__admin/openapi.json',
}
const select = document.getElementById('api')
const theme = localStorage.getItem('payout-sandbox theme')
const system = matchMedia('(prefers-color-scheme: dark)')
const paint = () => {
  const isDark = theme === 'dark' || (theme !== 'light' && system.matches)
  document.documentElement.classList.toggle('dark-mode', isDark)
}
system.addEventListener('change', paint)
paint()
const client = fetch('__admin/client')
  .then((response) => response.json())
  .catch(() => ({}))
const show = (url) => {
  const onComplete = async () => {
    const { access_token: token } = await client
    // Swagger UI's own label for this list is empty.
    document.getElementById('servers')?.setAttribute('aria-label', 'Server')
    if (token) ui.preauthorizeApiKey('accessToken', token)
  }
  const more = { validatorUrl: null, filter: true, tryItOutEnabled: true, onComplete }
  const ui = SwaggerUIBundle({ dom_id: '#swagger-ui', url, ...more })
}
const asked = new URLSearchParams(location.search).get('api')
if ([...select.options].some(({ value }) => value === asked)) select.value = asked
select.addEventListener('change', () => {
  history.replaceState(null, '', `?api=${select.value}`)
  show(documents[select.value])
})
show(documents[select.value])
