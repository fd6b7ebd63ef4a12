"""What a build makes of the page's modules; tests/ui/test_wheel.py compares all of them, and shows them in Chromium."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("brotli")
pytest.importorskip("tree_sitter_javascript")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def hatch_page():
    spec = spec_from_file_location("hatch_page", ROOT / "hatch_page.py")
    module = module_from_spec(spec)
    sys.modules["hatch_page"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("const size=1;\nf(size,other);", "const A=1;f(A,other);"),
        ("f(function sum(left,right){return left+right});", "f(function a(b,c){return b+c});"),
        ("const one=1,two=one=>one+two;", "const A=1,B=a=>a+B;"),
        # a name of the browser, and one of the bundle, is not taken
        ("const A1=A;let B1=B;", "const C=A;let D=B;"),
        ('import{t as a,html}from"./x.js";\nf(one=>a+one+html);', 'import{t as a,html}from"./x.js";f(b=>a+b+html);'),
        ("f(({size,at:[first=size],...rest})=>({size,at:first,rest}));", "f(({size:a,at:[b=a],...c})=>({size:a,at:b,rest:c}));"),
        ("const{size=2}=x;x.size=size;x={size:1,size(){}};", "const{size:A=2}=x;x.size=A;x={size:1,size(){}};"),
        ("try{f()}catch(error){g(error)}", "try{f()}catch(a){g(a)}"),
        ("for(const item of items){let n=item;f(n)}", "for(const a of items){let b=a;f(b)}"),
        ("for(item of items)f();\nlet item;", "for(A of items)f();let A;"),
        ("class Error2 extends Error{#at=1;get at(){return this.#at}}\nf(Error2);", "class A extends Error{#at=1;get at(){return this.#at}}\nf(A);"),
        ("f`a ${size=>`\n ${size}`}\n`;", "f`a ${a=>`\n ${a}`}\n`;"),
        ("const size=1;\nconst area=size*2;\nlet n;\nlet m;", "const A=1,B=A*2;let C,D;"),
        ("f(1,\n2\n);\nif(x)\ny()\nelse z()", "f(1,2);if(x)\ny()\nelse z()"),
        ("export const size=1;\nexport function f(){return size}", "const A=1;\nfunction B(){return A}\nexport { A as size, B as f };"),
        ('import{a as size}from"./x.js";\nexport{size};\nexport{b}from"./y.js";', 'import{a as size}from"./x.js";\nexport{size};\nexport{b}from"./y.js";'),
    ],
)  # fmt: skip
def test_declared_names_are_short(hatch_page, text, short):
    assert hatch_page.Shortener()(text).rstrip("\n") == short


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("const = 1", "this is not JavaScript"),
        ("f();\nvar a=1;", "line 2: variable_declaration is not supported"),
        ("f(class A{});", "line 1: class is not supported"),
    ],
)
def test_says_what_is_not_supported(hatch_page, text, error):
    with pytest.raises(ValueError, match=error):
        hatch_page.Shortener()(text)


def hook(hatch_page, warnings=None):
    app = SimpleNamespace(display_warning=(warnings if warnings is not None else []).append)
    return hatch_page.PageHook(str(ROOT), {}, None, None, str(ROOT), "wheel", app)


def test_a_wheel_has_each_module_and_each_file_of_the_page(hatch_page):
    build, page = {"force_include": {}}, hook(hatch_page)
    page.initialize("standard", build)
    names = {name.removeprefix("overtone/ui/web/") for name in build["force_include"].values()}
    web = ROOT / "src" / "overtone" / "ui" / "web"
    modules = {path.relative_to(web).as_posix() for path in web.glob("js/**/*.js")}
    assert modules < names
    assert len(names - modules) == 6  # the page, three scripts, the Worker's and the styles
    assert all(Path(path).is_file() for path in build["force_include"])
    page.finalize("standard", build, "")
    assert not any(Path(path).exists() for path in build["force_include"])


def test_an_editable_install_and_a_build_without_tree_sitter_keep_the_modules(hatch_page, monkeypatch):
    warnings = []
    build, page = {"force_include": {}}, hook(hatch_page, warnings)
    page.initialize("editable", build)
    page.finalize("editable", build, "")
    assert warnings == []
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    page.initialize("standard", build)
    page.finalize("standard", build, "")
    assert warnings == ["the page keeps its long names: tree_sitter is not installed"]
    assert build == {"force_include": {}}
