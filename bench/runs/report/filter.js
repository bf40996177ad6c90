const rows = [...document.querySelectorAll("#tests tr")], text = document.getElementById("text"), verdict = document.getElementById("verdict");
function filter() {
  let left = 0;
  for (const row of rows) {
    row.hidden = !row.cells[0].textContent.includes(text.value) || verdict.value && row.dataset.status !== verdict.value;
    left += !row.hidden;
  }
  document.getElementById("none").hidden = left > 0;
}
text.addEventListener("input", filter);
verdict.addEventListener("change", filter);
